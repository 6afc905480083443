import { secondConnectionsSeen } from "../telemetry.ts";

const seen: Error[] = [];
secondConnectionsSeen.subscribe((error) => seen.push(error));

/** Since the last call. */
export const secondConnections = (): Error[] => seen.splice(0);
