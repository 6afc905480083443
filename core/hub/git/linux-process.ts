import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
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

/** How far a process gives way to others: 0 (not at all) to 19, or `idle`, which runs only while no other process needs the core. */
export type Niceness = number | "idle";

/**
 * Lowers the priority of a process and its threads. `idle` is the scheduling policy SCHED_IDLE: beside many processes at niceness 19 a
 * request may wait behind another, because the scheduler considers their cores busy. Without util-linux `idle` is niceness 19.
 */
export function lowerPriority(pid: number, niceness: Niceness): void {
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, niceness === "idle" ? 19 : niceness);
    } catch {
      // It may have ended already.
    }
  }
  if (niceness !== "idle") return;
  spawn("chrt", ["--all-tasks", "--idle", "--pid", "0", String(pid)], { stdio: "ignore" }).on("error", () => undefined);
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}
