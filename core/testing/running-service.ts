import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../postgres/free-port.ts";
import { findPostmaster } from "../postgres/postmaster.ts";

const ROOT = join(import.meta.dirname, "../..");
const START_SECONDS = 180;

export type RunningService = {
  process: ChildProcess;
  origin: string;
  dataDir: string;
  isDataShared: boolean;
  exited: Promise<{ code: number | null; signal: string | null }>;
  output(): string;
  pidOf(what: "server.ts" | "worker/index.ts" | "database"): number;
};

type Settings = Record<string, string>;

function environment(settings: Settings): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, NEXT_DIST_DIR } = process.env;
  const given: Record<string, string | undefined> = { PATH, HOME, TMPDIR, NEXT_DIST_DIR, ...settings };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as NodeJS.ProcessEnv;
}

export async function buildForTests(): Promise<void> {
  await promisify(execFile)(process.execPath, ["scripts/setup.mjs", "--build"], { cwd: ROOT, env: environment({}) });
}

export async function spawnService(settings: Settings = {}, args: string[] = []): Promise<RunningService> {
  const port = settings.PORT ?? String(await freePort());
  const dataDir = settings.DATA_DIR ?? join(mkdtempSync(join(tmpdir(), "keyhook-service-")), "data");
  const child = spawn(process.execPath, ["supervisor.ts", ...args], {
    cwd: ROOT,
    env: environment({ ...settings, PORT: port, DATA_DIR: dataDir }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (printed += chunk));
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const service: RunningService = {
    process: child,
    origin: `http://localhost:${port}`,
    dataDir,
    isDataShared: settings.DATA_DIR !== undefined,
    exited,
    output: () => printed,
    pidOf(what) {
      const pid = what === "database" ? findPostmaster(join(dataDir, "postgres"))?.pid : childRunning(child.pid as number, what);
      if (!pid) throw new Error(`${what} is not running:\n${printed}`);
      return pid;
    },
  };
  return service;
}

export async function stopService({ process: child, exited, dataDir, isDataShared }: RunningService): Promise<void> {
  child.kill("SIGTERM");
  await exited;
  if (isDataShared) return;
  const left = findPostmaster(join(dataDir, "postgres"));
  if (left) process.kill(left.pid, "SIGQUIT");
  rmSync(join(dataDir, ".."), { recursive: true, force: true });
}

export async function startService(settings: Settings = {}, args: string[] = []): Promise<RunningService> {
  const service = await spawnService(settings, args);
  let hasEnded = false;
  void service.exited.then(() => {
    hasEnded = true;
  });
  for (const deadline = Date.now() + START_SECONDS * 1_000; Date.now() < deadline && !hasEnded; await delay(50)) {
    if (service.output().includes("is ready:")) return service;
  }
  await stopService(service);
  throw new Error(`the service did not start:\n${service.output()}`);
}

export const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

function childRunning(parent: number, file: string): number | undefined {
  const children = readProc(`${parent}/task/${parent}/children`).split(" ").map(Number).filter(Boolean);
  return children.find((pid) => readProc(`${pid}/cmdline`).includes(`/${file}\0`));
}

function readProc(path: string): string {
  try {
    return readFileSync(join("/proc", path), "utf8");
  } catch {
    return ""; // it ended meanwhile
  }
}
