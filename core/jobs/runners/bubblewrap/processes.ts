import { readFile } from "node:fs/promises";

/** Processes directly below one, by their ids on this machine. Empty when it is gone. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
  return text.split(" ").flatMap((id) => (id.trim() === "" ? [] : [Number(id)]));
}

/** Every process below one. Of a sandbox's first process these are all: what loses its parent becomes a child of the first. */
async function descendantsOf(pid: number): Promise<number[]> {
  const found: number[] = [];
  const open = [pid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const children = await childrenOf(next);
    found.push(...children);
    open.push(...children);
  }
  return found;
}

const PAGE_BYTES = 4096;

/**
 * How much memory the processes below one take, in bytes. What several share, such as after a fork, is counted once; that is costly to
 * find out, so that it is only where the quick count comes to more than `limit`.
 */
export async function memoryBelow(pid: number, limit: number): Promise<number> {
  const pids = await descendantsOf(pid);
  let quick = 0;
  for (const each of pids) {
    const [, resident = 0, shared = 0] = (await readFile(`/proc/${each}/statm`, "latin1").catch(() => "")).split(" ").map(Number);
    quick += Math.max(0, resident - shared) * PAGE_BYTES;
  }
  if (quick <= limit) return quick;
  let exact = 0;
  for (const each of pids) {
    const text = await readFile(`/proc/${each}/smaps_rollup`, "latin1").catch(() => "");
    exact += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) * 1024;
  }
  return exact;
}
