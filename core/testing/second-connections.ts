import { secondConnectionsSeen } from "../telemetry.ts";

const seen: Error[] = [];
secondConnectionsSeen.subscribe((error) => seen.push(error));

/** Where a second connection was asked for in a transaction since this was called last. */
export const secondConnections = (): Error[] => seen.splice(0);
