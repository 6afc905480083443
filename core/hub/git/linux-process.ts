import { readFileSync } from "node:fs";
import { setPriority } from "node:os";

/** @param name below /proc; @returns nothing where the process has ended, or the system is not Linux */
export function readProcess(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, "latin1");
  } catch {
    return "";
  }
}

export const childrenOf = (pid: number): number[] =>
  readProcess(`${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);

export function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It may have ended already.
  }
}
