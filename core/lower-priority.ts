import { getPriority, setPriority } from "node:os";

/**
 * On systems other than Linux, the calling thread's whole process. A priority that is lower already stays: only root may raise
 * it.
 */
export function lowerPriority(niceness: number, pid = 0): void {
  if (getPriority(pid) < niceness) setPriority(pid, niceness);
}
