import { secondConnectionsSeen } from "../telemetry.ts";

const seen: Error[] = [];
secondConnectionsSeen.subscribe((error) => seen.push(error));

/** Requests for a second connection in a transaction since the last call. */
export const secondConnections = (): Error[] => seen.splice(0);
