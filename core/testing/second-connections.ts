import { secondConnectionsSeen } from "../telemetry.ts";

const seen: Error[] = [];
secondConnectionsSeen.subscribe((error) => seen.push(error));

/** The requests for a second connection within a transaction, since the last call. */
export const secondConnections = (): Error[] => seen.splice(0);
