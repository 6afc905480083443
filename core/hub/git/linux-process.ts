import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setPriority } from "node:os";

/** @param name below /proc; @returns an empty string if the process has ended, or the system is not Linux */
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

/**
 * Lets a process, its threads and its children run only while no other process needs the core (SCHED_IDLE). Even at niceness 19, many such
 * processes delay others: the scheduler considers a core that runs them busy, and lets a request wait behind another on the other core.
 * Without util-linux they keep their niceness.
 */
export function runWhenIdle(pid: number): void {
  spawn("chrt", ["--all-tasks", "--idle", "--pid", "0", String(pid)], { stdio: "ignore" }).on("error", () => undefined);
}
