import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { RunningService } from "#core/testing/running-service.ts";
import { below, cpuSeconds, processTree } from "../../cost.ts";

/** Memory and disk space in MiB, CPU time in seconds. */
export type Usage = {
  restarts: number;
  /** The most probes in a row without a response in five seconds. Probes are ten seconds apart. Three cause a restart. */
  missedProbes: number;
  /** The web process alone, and together with its git processes. The chart limits the sum. */
  webMiB: number;
  webTreeMiB: number;
  workerMiB: number;
  tasksMiB: number;
  processes: number;
  diskMiB: number;
  cpuSeconds: number;
};

const SAMPLE_MS = 500;
const DISK_MS = 2_000;
const PROBE_MS = 10_000;
const PROBE_TIMEOUT_MS = 5_000;
const KIB = 1024;

const roles = ["server.ts", "worker/index.ts", "database"] as const;

/** Works only on Linux, like the sandbox. */
export function watchService(running: RunningService, directories: string[]) {
  const usage: Usage = {
    ...{ restarts: 0, missedProbes: 0, webMiB: 0, webTreeMiB: 0, workerMiB: 0 },
    ...{ tasksMiB: 0, processes: 0, diskMiB: 0, cpuSeconds: 0 },
  };
  const stopping = new AbortController();
  const pids = new Map<string, number | undefined>(roles.map((role) => [role, findPid(running, role)]));
  const supervisor = running.process.pid as number;
  let cpuAtStart: number | undefined;

  const samplePids = () => {
    for (const [role, pid] of pids) {
      if (pid !== undefined && existsSync(`/proc/${pid}`)) continue;
      if (pid !== undefined) usage.restarts += 1;
      pids.set(role, findPid(running, role as (typeof roles)[number]));
    }
  };

  const sampleMemory = () => {
    const tree = processTree(supervisor);
    const web = pids.get("server.ts");
    const worker = pids.get("worker/index.ts");
    const webMiB = residentMiB(web);
    const peak = (name: keyof Usage, value: number) => {
      usage[name] = Math.max(usage[name], Math.round(value));
    };
    peak("webMiB", webMiB);
    peak("webTreeMiB", webMiB + below(tree, web).reduce((sum, { pid }) => sum + ownMiB(pid), 0));
    peak("workerMiB", residentMiB(worker));
    peak(
      "tasksMiB",
      below(tree, worker).reduce((sum, { pid }) => sum + ownMiB(pid), 0),
    );
    peak("processes", tree.length);
    const cpu = cpuSeconds(supervisor);
    cpuAtStart ??= cpu;
    usage.cpuSeconds = Math.max(usage.cpuSeconds, Math.round(cpu - cpuAtStart));
  };

  const sampling = (async () => {
    while (!stopping.signal.aborted) {
      samplePids();
      sampleMemory();
      await delay(SAMPLE_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    samplePids();
  })();

  const measuringDisk = (async () => {
    const before = await diskMiB(directories);
    do {
      await delay(DISK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      usage.diskMiB = Math.max(usage.diskMiB, Math.round((await diskMiB(directories)) - before));
    } while (!stopping.signal.aborted);
  })();

  const probing = (async () => {
    for (let missed = 0; !stopping.signal.aborted; ) {
      missed = (await isAlive(running.origin, stopping.signal)) ? 0 : missed + 1;
      usage.missedProbes = Math.max(usage.missedProbes, missed);
      await delay(PROBE_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();

  return {
    async stop(): Promise<Usage> {
      stopping.abort();
      await Promise.all([sampling, measuringDisk, probing]);
      return usage;
    },
  };
}

function findPid(running: RunningService, role: (typeof roles)[number]): number | undefined {
  try {
    return running.pidOf(role);
  } catch {
    return undefined; // the process is restarting
  }
}

function isAlive(origin: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
    const req = request({ host: "127.0.0.1", port: new URL(origin).port, path: "/healthz", signal: ended }, (res) => {
      res.resume();
      resolve(res.statusCode === 200);
    });
    // A probe that was cut off when the watch ended does not count as missed.
    req.once("error", () => resolve(signal.aborted));
    req.end();
  });
}

const residentMiB = (pid: number | undefined): number => statusMiB(pid, ["VmRSS"]);

/** Does not count the page cache of files, which processes of one program share. */
const ownMiB = (pid: number): number => statusMiB(pid, ["RssAnon", "RssShmem"]);

function statusMiB(pid: number | undefined, names: string[]): number {
  if (pid === undefined) return 0;
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return names.reduce((sum, name) => sum + Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0), 0) / KIB;
  } catch {
    return 0;
  }
}

const run = promisify(execFile);

async function diskMiB(directories: string[]): Promise<number> {
  // `du` exits with 1 if a file disappeared meanwhile, but has counted all other files.
  const { stdout } = await run("du", ["-skx", ...directories]).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? "",
  }));
  return stdout.split("\n").reduce((sum, line) => sum + Number.parseInt(line || "0", 10), 0) / KIB;
}
