import { existsSync, readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

const TICKS_PER_SECOND = 100;

/** Includes descendants that have ended. Linux only, 0 on other systems. */
export const cpuSeconds = (pid: number): number =>
  processTree(pid).reduce((sum, { cpuTicks }) => sum + cpuTicks, 0) / TICKS_PER_SECOND;

/** Only the main thread runs the process's JavaScript. */
export const threadSeconds = (pid: number): number => ticksOf(readStat(`${pid}/task/${pid}`).slice(11, 13)) / TICKS_PER_SECOND;

type Process = { pid: number; parent: number; cpuTicks: number };

/** The CPU time of a process that has ended counts for its parent. */
export function processTree(root: number): Process[] {
  const all = existsSync("/proc") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  const running = all.flatMap((pid) => readProcess(Number(pid)));
  return [...running.filter(({ pid }) => pid === root), ...below(running, root)];
}

export function below(all: readonly Process[], root: number | undefined): Process[] {
  if (root === undefined) return [];
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found: Process[] = [];
  const queue = [root];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    for (const child of children.get(pid) ?? []) {
      found.push(child);
      queue.push(child.pid);
    }
  }
  return found;
}

function readProcess(pid: number): Process[] {
  const fields = readStat(`${pid}`);
  return fields.length > 0 ? [{ pid, parent: Number(fields[1]), cpuTicks: ticksOf(fields.slice(11, 15)) }] : [];
}

/** The fields after the name, which is in parentheses and may contain any characters. Empty if the process has ended. */
function readStat(path: string): string[] {
  try {
    return readFileSync(`/proc/${path}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  } catch {
    return [];
  }
}

const ticksOf = (fields: string[]): number => fields.reduce((sum, ticks) => sum + Number(ticks), 0);

export async function statementsSoFar(socketPath: string): Promise<number> {
  return Number(await text(connect(socketPath)));
}
