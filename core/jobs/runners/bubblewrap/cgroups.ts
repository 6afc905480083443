import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, dirname, join } from "node:path";
import { env } from "../../../env.ts";
import type { Limits } from "../runner.ts";
import {
  type Cgroup,
  ignoring,
  limitGroup,
  makeDirectories,
  processesOf,
  readKernelFile,
  sweep,
  writeKernelFile,
} from "./task-cgroup.ts";

/**
 * Unlike the periodic check, a cgroup also counts sockets, pipes and shared pages. The service can create cgroups as root, or
 * with systemd's `Delegate=yes`.
 */
export type Cgroups = {
  version: 1 | 2;
  controls: readonly Control[];
  parents: readonly string[];
  make(id: string, limits: Pick<Limits, "memoryBytes" | "processes" | "cpus">): Promise<Cgroup>;
};

type Control = "memory" | "pids" | "cpu";
const CONTROLS: readonly Control[] = ["memory", "pids", "cpu"];

/** All tasks together get half as much CPU time as the service. In version 1, each thread of the service has a weight of 1024. */
const WEIGHT_OF_ALL = { 1: 512 * availableParallelism(), 2: 50 };
const WEIGHT_PER_CPU = { 1: 1024, 2: 100 };
const PERIOD_MICROSECONDS = 100_000;
const BWRAP_PROCESSES = 2;
const TASKS = "keyhook-tasks";
/** In version 2, a group with processes cannot limit the groups below it, so the service moves into this group. */
const SERVICE = "keyhook-service";

let found: Promise<Cgroups | { reason: string }> | undefined;

export async function findCgroups(): Promise<Cgroups | { reason: string }> {
  if (env().JOBS_CGROUP === "off") return { reason: "JOBS_CGROUP is off." };
  found ??= find().catch((error: NodeJS.ErrnoException) => ({ reason: reasonOf(error) }));
  return found;
}

async function find(): Promise<Cgroups | { reason: string }> {
  const [mounts, memberships] = await Promise.all([readMounts(), readMemberships()]);
  const two = await findVersion2(mounts, memberships);
  const one = "reason" in two ? await findVersion1(mounts, memberships) : undefined;
  const cgroups = one && !("reason" in one) ? one : two;
  if ("reason" in cgroups) return cgroups;
  await sweep(cgroups.parents);
  // Failures must show now, and not when a task starts.
  const trial = await cgroups.make("trial", { memoryBytes: 64 * 1024 ** 2, processes: 16, cpus: 1 });
  await trial.remove();
  return cgroups;
}

type Mount = { root: string; path: string; type: string; options: string[] };

async function readMounts(): Promise<Mount[]> {
  const lines = (await readFile("/proc/self/mountinfo", "utf8")).split("\n");
  return lines.flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root = "", path = ""] = before.split(" ");
    const [type = "", , options = ""] = after.split(" ");
    return type.startsWith("cgroup") ? [{ root, path, type, options: options.split(",") }] : [];
  });
}

async function readMemberships(): Promise<Map<string, string>> {
  const lines = (await readFile("/proc/self/cgroup", "utf8")).trim().split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [, controllers = "", ...path] = line.split(":");
      return controllers.split(",").map((controller): [string, string] => [controller, path.join(":")]);
    }),
  );
}

function directoryOf({ root, path }: Mount, membership: string): string {
  const isBelow = root !== "/" && (membership === root || membership.startsWith(`${root}/`));
  return join(path, isBelow ? membership.slice(root.length) : membership);
}

async function findVersion2(mounts: Mount[], memberships: Map<string, string>): Promise<Cgroups | { reason: string }> {
  const mount = mounts.find(({ type }) => type === "cgroup2");
  const membership = memberships.get("");
  if (!mount || membership === undefined) return { reason: "This machine has no cgroups mounted." };
  const own = directoryOf(mount, membership);
  const base = basename(own) === SERVICE ? dirname(own) : own;
  const offered = (await readKernelFile(join(base, "cgroup.controllers"))).trim().split(" ");
  const controls = CONTROLS.filter((control) => offered.includes(control));
  if (!controls.includes("memory") || !controls.includes("pids")) {
    return { reason: `The cgroup of this service (${base}) cannot limit memory and processes.` };
  }
  // A login session has processes that this service must not move. `systemd-run --scope` makes run-….scope.
  if (/^(?!run-).*\.scope$/.test(basename(base))) {
    return {
      reason: `The service was started from a login session (${basename(base)}) and shares its cgroup with other programs.`,
    };
  }
  const enabled = controls.map((control) => `+${control}`).join(" ");
  // Only the root of the tree may have both processes and groups with limits.
  if (existsSync(join(base, "cgroup.type"))) await moveService(base, enabled);
  else await writeKernelFile(join(base, "cgroup.subtree_control"), enabled);
  const parent = join(base, TASKS);
  await mkdir(parent, { recursive: true });
  if (controls.includes("cpu")) await writeKernelFile(join(parent, "cpu.weight"), String(WEIGHT_OF_ALL[2]));
  await writeKernelFile(join(parent, "cgroup.subtree_control"), enabled);
  return {
    version: 2,
    controls,
    parents: [parent],
    async make(id, { memoryBytes, processes, cpus }) {
      const [directory = ""] = await makeDirectories([parent], id);
      const files: Record<string, string> = {
        "memory.max": String(memoryBytes),
        // All processes end together, because a command might not notice that one of its processes was killed.
        "memory.oom.group": "1",
        "pids.max": String(processes + BWRAP_PROCESSES),
      };
      if (existsSync(join(directory, "memory.swap.max"))) files["memory.swap.max"] = "0";
      if (controls.includes("cpu")) {
        files["cpu.weight"] = String(Math.min(10_000, Math.max(1, Math.round(cpus * WEIGHT_PER_CPU[2]))));
        files["cpu.max"] = `${Math.round(cpus * PERIOD_MICROSECONDS)} ${PERIOD_MICROSECONDS}`;
      }
      return limitGroup([directory], [files], join(directory, "memory.events"));
    },
  };
}

/** The cgroup must contain only the service's processes. */
async function moveService(base: string, enabled: string): Promise<void> {
  const service = join(base, SERVICE);
  await mkdir(service, { recursive: true });
  for (let tries = 1; ; tries++) {
    for (const pid of await processesOf(base)) {
      await writeKernelFile(join(service, "cgroup.procs"), String(pid)).catch(ignoring("ESRCH"));
    }
    try {
      return await writeKernelFile(join(base, "cgroup.subtree_control"), enabled);
    } catch (error) {
      // The service may have started another process meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "EBUSY" || tries === 20) throw error;
    }
  }
}

async function findVersion1(mounts: Mount[], memberships: Map<string, string>): Promise<Cgroups | { reason: string }> {
  const parentOf = new Map<Control, string>();
  for (const control of CONTROLS) {
    const mount = mounts.find(({ type, options }) => type === "cgroup" && options.includes(control));
    const membership = memberships.get(control);
    if (mount && membership !== undefined) parentOf.set(control, join(directoryOf(mount, membership), TASKS));
  }
  if (!parentOf.has("memory") || !parentOf.has("pids")) {
    return { reason: "This machine's cgroups cannot limit memory and processes." };
  }
  // Controllers that are mounted together share a directory.
  const parents = [...new Set(parentOf.values())];
  for (const parent of parents) await mkdir(parent, { recursive: true });
  const cpuParent = parentOf.get("cpu");
  if (cpuParent) await writeKernelFile(join(cpuParent, "cpu.shares"), String(WEIGHT_OF_ALL[1]));
  return {
    version: 1,
    controls: [...parentOf.keys()],
    parents,
    async make(id, { memoryBytes, processes, cpus }) {
      const directories = await makeDirectories(parents, id);
      const of = (control: Control) => directories[parents.indexOf(parentOf.get(control) ?? "")] ?? "";
      const memory: Record<string, string> = { "memory.limit_in_bytes": String(memoryBytes) };
      // If the kernel does not count swap, tasks must not use it.
      if (existsSync(join(of("memory"), "memory.memsw.limit_in_bytes")))
        memory["memory.memsw.limit_in_bytes"] = String(memoryBytes);
      else memory["memory.swappiness"] = "0";
      const files = new Map(directories.map((directory): [string, Record<string, string>] => [directory, {}]));
      Object.assign(files.get(of("memory")) ?? {}, memory);
      Object.assign(files.get(of("pids")) ?? {}, { "pids.max": String(processes + BWRAP_PROCESSES) });
      if (cpuParent) {
        Object.assign(files.get(of("cpu")) ?? {}, {
          "cpu.shares": String(Math.max(2, Math.round(cpus * WEIGHT_PER_CPU[1]))),
          "cpu.cfs_period_us": String(PERIOD_MICROSECONDS),
          "cpu.cfs_quota_us": String(Math.round(cpus * PERIOD_MICROSECONDS)),
        });
      }
      return limitGroup(directories, [...files.values()], join(of("memory"), "memory.oom_control"));
    },
  };
}

function reasonOf({ code, path, message }: NodeJS.ErrnoException): string {
  if (code === "EACCES" || code === "EPERM") return `This service cannot create cgroups: it does not own ${path}.`;
  if (code === "EROFS") return `This service cannot create cgroups: ${path} is read-only.`;
  return `The cgroup could not be created: ${message}.`;
}
