import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

const TICKS_PER_SECOND = 100;

/** The CPU seconds that a process and each of its descendants have used so far (only on Linux; empty on other systems). */
export function cpuSeconds(pid: number): Map<number, number> {
  const used = new Map<number, number>();
  for (const each of [pid, ...descendants(pid)]) {
    try {
      const fields = readFileSync(`/proc/${each}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      used.set(each, (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND);
    } catch {
      // The process ended after it was listed.
    }
  }
  return used;
}

/** The CPU seconds between two readings, of the processes that are in both. */
export function cpuBetween(before: Map<number, number>, after: Map<number, number>): number {
  return [...after].reduce((sum, [pid, used]) => sum + used - (before.get(pid) ?? 0), 0);
}

export function descendants(pid: number): number[] {
  const parents = new Map<number, number[]>();
  let entries: string[] = [];
  try {
    entries = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  for (const entry of entries) {
    try {
      const parent = Number(readFileSync(`/proc/${entry}/stat`, "utf8").split(") ")[1]?.split(" ")[1]);
      parents.set(parent, [...(parents.get(parent) ?? []), Number(entry)]);
    } catch {
      // The process has ended.
    }
  }
  const below = (id: number): number[] => (parents.get(id) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

/** The number of statements that the web process has sent to its database, as count-statements.ts counts them. */
export async function statementsSoFar(socketPath: string): Promise<number> {
  return Number(await text(connect(socketPath)));
}
