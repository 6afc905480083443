import { secondConnectionsSeen } from "../telemetry.ts";

const seen: Error[] = [];
secondConnectionsSeen.subscribe((error) => seen.push(error));

export const secondConnections = (): Error[] => seen.splice(0);
