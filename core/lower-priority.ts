import { getPriority, setPriority } from "node:os";

/** On systems other than Linux, this lowers the priority of the whole process. Only root may raise a priority again. */
export function lowerPriority(niceness: number, pid = 0): void {
  if (getPriority(pid) < niceness) setPriority(pid, niceness);
}
