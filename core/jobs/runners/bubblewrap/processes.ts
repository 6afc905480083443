import { readFileSync } from "node:fs";
import { readdir, readFile, statfs } from "node:fs/promises";

export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
  return text.split(" ").flatMap((id) => (id.trim() === "" ? [] : [Number(id)]));
}

/** PIDs are reused, so only the PID and the start time together identify a process. */
const startTimeIn = (stat: string): string | undefined => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];

export const ownStartTime = (): string => startTimeIn(readFileSync("/proc/self/stat", "latin1")) ?? "0";

export async function isAlive(pid: number, startTime: string): Promise<boolean> {
  return startTimeIn(await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "")) === startTime;
}

export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}

const FILE_BYTES = 1024;

/**
 * @param pid the sandbox's first process
 * @param writable the sandbox's file systems in memory
 * @throws Error if memory cannot be read, or the sandbox is gone
 */
export async function memoryOf(pid: number, limit: number, writable: readonly string[]): Promise<number> {
  // All processes are listed, because a walk from parent to child would miss what a thread has started.
  const processes = `/proc/${pid}/root/proc`;
  const pids = (await readdir(processes)).filter((name) => /^\d+$/.test(name));
  const files = await filesIn(writable.map((path) => `/proc/${pid}/root${path}`));
  const quick = new Map<string, number>();
  for (const each of pids) {
    const status = await readFile(`${processes}/${each}/status`, "latin1").catch(() => "");
    // RssFile does not count, because the kernel can reclaim these pages.
    quick.set(each, kibibytes(status, "RssAnon") + kibibytes(status, "RssShmem") + kibibytes(status, "VmSwap"));
  }
  const atMost = files + sum(quick.values());
  if (atMost <= limit) return atMost;
  let exact = files;
  for (const [each, most] of quick) {
    const rollup = await readFile(`${processes}/${each}/smaps_rollup`, "latin1").catch(({ code }: NodeJS.ErrnoException) =>
      code === "EACCES" || code === "EPERM" ? undefined : "",
    );
    exact +=
      rollup === undefined ? most : kibibytes(rollup, "Pss_Anon") + kibibytes(rollup, "Pss_Shmem") + kibibytes(rollup, "SwapPss");
  }
  return exact;
}

async function filesIn(paths: string[]): Promise<number> {
  const found = await Promise.all(paths.map((path) => statfs(path)));
  return sum(found.map(({ bsize, blocks, bfree, files, ffree }) => (blocks - bfree) * bsize + (files - ffree) * FILE_BYTES));
}

const kibibytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0) * 1024;

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0);
