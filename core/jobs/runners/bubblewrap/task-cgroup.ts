import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { log } from "../../../log.ts";
import { isAlive, kill, ownStartTime } from "./processes.ts";

export type Cgroup = {
  /** Processes that these start later are in the group too. */
  enter(pids: readonly number[]): Promise<void>;
  wasOutOfMemory(): Promise<boolean>;
  remove(): Promise<void>;
};

/** The name contains this worker's PID, by which other workers see whether this worker is gone. */
export async function makeDirectories(parents: readonly string[], id: string): Promise<string[]> {
  const name = `${id}.${process.pid}.${ownStartTime()}.${randomBytes(4).toString("hex")}`;
  const directories = parents.map((parent) => join(parent, name));
  for (const directory of directories) await mkdir(directory);
  return directories;
}

export async function limitGroup(directories: string[], files: Record<string, string>[], oomFile: string): Promise<Cgroup> {
  const remove = () => removeGroups(directories);
  try {
    for (const [at, values] of files.entries())
      for (const [name, value] of Object.entries(values)) {
        // Version 1 rejects a quota larger than the quota of the service's container, which applies anyway.
        const ignoreTooLarge = name === "cpu.cfs_quota_us" ? ignoring("EINVAL") : undefined;
        await writeKernelFile(join(directories[at] ?? "", name), value).catch(ignoreTooLarge);
      }
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    async enter(pids) {
      for (const directory of directories)
        for (const pid of pids) await writeKernelFile(join(directory, "cgroup.procs"), String(pid));
    },
    async wasOutOfMemory() {
      const [, times = "0"] = /^oom_kill (\d+)$/m.exec(await readKernelFile(oomFile)) ?? [];
      return Number(times) > 0;
    },
    remove,
  };
}

export async function sweep(parents: readonly string[]): Promise<void> {
  for (const parent of parents) {
    for (const entry of await readdir(parent, { withFileTypes: true })) {
      const [, pid, startTime] = /^[^.]+\.(\d+)\.(\d+)\.[0-9a-f]+$/.exec(entry.name) ?? [];
      if (entry.isDirectory() && pid && startTime && !(await isAlive(Number(pid), startTime))) {
        await removeGroups([join(parent, entry.name)]);
      }
    }
  }
}

const REMOVE_MS = 5_000;

async function removeGroups(directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    for (const until = performance.now() + REMOVE_MS; ; await sleep(5)) {
      try {
        await rmdir(directory);
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") break;
        if (performance.now() > until) {
          log().warn({ err: error, directory }, "a cgroup could not be removed; trying again when a worker starts");
          break;
        }
        for (const pid of await processesOf(directory)) kill(pid);
      }
    }
  }
}

export async function processesOf(directory: string): Promise<number[]> {
  const pids = (await readKernelFile(join(directory, "cgroup.procs"))).trim().split("\n").map(Number);
  // A PID of 0 belongs to a process of another container.
  return pids.filter((pid) => pid > 0);
}

export const readKernelFile = (path: string): Promise<string> => readFile(path, "latin1").catch(() => "");

/** The flag `r+` never creates a file. */
export function writeKernelFile(path: string, text: string): Promise<void> {
  return writeFile(path, text, { flag: "r+" });
}

export const ignoring = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error;
};
