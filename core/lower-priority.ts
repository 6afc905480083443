import { getPriority, setPriority } from "node:os";

/**
 * Lowers the priority of a process, or of the calling thread (on systems other than Linux: of the calling process). A priority that is lower
 * already, as with systemd's `Nice=`, stays as it is: only root may raise it.
 */
export function lowerPriority(niceness: number, pid = 0): void {
  if (getPriority(pid) < niceness) setPriority(pid, niceness);
}
