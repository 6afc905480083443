import { getPriority, setPriority } from "node:os";

/** Only root may raise a priority that is lower already. On systems other than Linux, lowers the whole process. */
export function lowerPriority(niceness: number, pid = 0): void {
  if (getPriority(pid) < niceness) setPriority(pid, niceness);
}
