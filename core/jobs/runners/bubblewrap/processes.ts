import { readFileSync } from "node:fs";
import { readdir, readFile, statfs } from "node:fs/promises";

/** The direct children of a process, by PID on this machine. Empty when it is gone. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
  return text.split(" ").flatMap((id) => (id.trim() === "" ? [] : [Number(id)]));
}

/** When a process was started. With the PID it is unique: PIDs are reused. */
const startTimeIn = (stat: string): string | undefined => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];

export const ownStartTime = (): string => startTimeIn(readFileSync("/proc/self/stat", "latin1")) ?? "0";

export async function isAlive(pid: number, startTime: string): Promise<boolean> {
  return startTimeIn(await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "")) === startTime;
}

/** Kills a process; nothing happens if it has ended meanwhile. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Ended.
  }
}

/** Kernel memory of an empty file: its inode and its name. */
const FILE_BYTES = 1024;

/**
 * How much memory a sandbox uses, in bytes, counted from outside: for machines without cgroups. It consists of the anonymous pages of its
 * processes, also those in swap, their shared-memory pages, and the content of its file systems. Only a cgroup also counts what the kernel
 * holds for them, such as sockets, and shared pages that no process maps now.
 *
 * The quick count includes shared pages once for each process. Counting them once is costly, so it is done only if the quick count exceeds
 * `limit`.
 * @param pid of the sandbox's first process
 * @param writable its file systems in memory
 * @throws when the sandbox's memory cannot be read, or the sandbox is gone
 */
export async function memoryOf(pid: number, limit: number, writable: readonly string[]): Promise<number> {
  // Uses the sandbox's own list of processes: walking from parent to child would miss what a thread has started.
  const processes = `/proc/${pid}/root/proc`;
  const pids = (await readdir(processes)).filter((name) => /^\d+$/.test(name));
  const files = await filesIn(writable.map((path) => `/proc/${pid}/root${path}`));
  const quick = new Map<string, number>();
  for (const each of pids) {
    const status = await readFile(`${processes}/${each}/status`, "latin1").catch(() => "");
    // RssFile does not count: the kernel can reclaim those pages and read them again.
    quick.set(each, kibibytes(status, "RssAnon") + kibibytes(status, "RssShmem") + kibibytes(status, "VmSwap"));
  }
  const atMost = files + sum(quick.values());
  if (atMost <= limit) return atMost;
  let exact = files;
  for (const [each, most] of quick) {
    // Some processes cannot be read; for them, the quick count is used. Ended ones use nothing.
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
