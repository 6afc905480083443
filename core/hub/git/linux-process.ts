import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, setPriority } from "node:os";

/**
 * `name` is a path below /proc.
 * @returns "" if the process has ended or the system is not Linux
 */
export function readProcess(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, "latin1");
  } catch {
    return "";
  }
}

export const childrenOf = (pid: number): number[] =>
  readProcess(`${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);

/** From 0 to 19, or `idle` for the policy SCHED_IDLE. */
export type Niceness = number | "idle";

/**
 * A core with only `idle` processes counts as free, so requests do not wait behind them. But such a core takes over no waiting
 * requests. So only half of the cores run `idle` processes.
 */
export function lowerPriority(pid: number, niceness: Niceness): void {
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, niceness === "idle" ? 19 : niceness);
    } catch {}
  }
  if (niceness !== "idle") return;
  run("chrt", ["--all-tasks", "--idle", "--pid", "0", `${pid}`]);
  run("taskset", ["--all-tasks", "--cpu-list", "--pid", halfOfCores(), `${pid}`]);
}

export function lowerPriorityOfFamily(pid: number, niceness: Niceness): void {
  const family = [pid];
  for (const one of family) family.push(...childrenOf(one));
  for (const one of family) lowerPriority(one, niceness);
}

function run(command: string, args: readonly string[]): void {
  spawn(command, args, { stdio: "ignore" }).on("error", () => undefined);
}

function halfOfCores(): string {
  const count = Math.max(1, Math.floor(availableParallelism() / 2));
  return coresAllowedTo(process.pid).slice(-count).join(",");
}

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
