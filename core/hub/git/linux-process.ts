import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, setPriority } from "node:os";

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

/** The niceness of a process: 0 (none) to 19, or `idle`, which runs only while no other process needs the core. */
export type Niceness = number | "idle";

/**
 * Lowers the priority of a process and its threads. `idle` is the scheduling policy SCHED_IDLE. The scheduler considers a core busy if it
 * runs a process at niceness 19: beside many such processes, one request may wait behind another. A core that runs only `idle` processes
 * counts as free. But it does not take over requests that wait on other cores, so `idle` processes get only half of the cores. Without
 * util-linux, `idle` means niceness 19.
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
  run("chrt", ["--all-tasks", "--idle", "--pid", "0", `${pid}`]);
  run("taskset", ["--all-tasks", "--cpu-list", "--pid", halfOfCores(), `${pid}`]);
}

/** As `lowerPriority`, for a process and all its descendants. Processes that they start later inherit the priority. */
export function lowerPriorityOfFamily(pid: number, niceness: Niceness): void {
  const family = [pid];
  // The list grows during the loop.
  for (const one of family) family.push(...childrenOf(one));
  for (const one of family) lowerPriority(one, niceness);
}

function run(command: string, args: readonly string[]): void {
  spawn(command, args, { stdio: "ignore" }).on("error", () => undefined);
}

/** The last half of the cores that this process may use, at least one. A container's CPU limit may be below the number of its cores. */
function halfOfCores(): string {
  const count = Math.max(1, Math.floor(availableParallelism() / 2));
  return coresAllowedTo(process.pid).slice(-count).join(",");
}

/** The numbers of the cores on which a process may run; none where there is no /proc. */
export function coresAllowedTo(pid: number): number[] {
  const ranges = /^Cpus_allowed_list:\s*(\S+)/m.exec(readProcess(`${pid}/status`))?.[1]?.split(",") ?? [];
  return ranges.flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}
