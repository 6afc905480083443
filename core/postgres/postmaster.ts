import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export type Postmaster = {
  pid: number;
  port: number;
  /** Empty without a Unix socket. */
  socketDirectory: string;
  isReady: boolean;
};

export function findPostmaster(cluster: string): Postmaster | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n");
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isPostgres(pid)) return undefined;
  return { pid, port: Number(lines[3]), socketDirectory: lines[4] ?? "", isReady: lines[7]?.trim() === "ready" };
}

const GRACE_SECONDS = 6;
const CUT_SHORT_SECONDS = 2;

/** With SIGINT, the server writes its state. After SIGQUIT or SIGKILL, the next start must recover it. */
export async function stopPostmaster(pid: number, graceSeconds = GRACE_SECONDS): Promise<void> {
  const steps = [
    ["SIGINT", graceSeconds],
    ["SIGQUIT", CUT_SHORT_SECONDS],
    ["SIGKILL", CUT_SHORT_SECONDS],
  ] as const;
  for (const [signal, seconds] of steps) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (const deadline = Date.now() + seconds * 1_000; Date.now() < deadline; await delay(20)) {
      if (!isAlive(pid)) return;
    }
  }
  throw new Error(`the database process ${pid} did not stop`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // A process that has ended but was not reaped yet still accepts signals.
  return !/^State:\s+Z/m.test(readProc(pid, "status") ?? "");
}

/** After a reboot, another process may have the file's PID. */
function isPostgres(pid: number): boolean {
  if (!isAlive(pid)) return false;
  const command = readProc(pid, "cmdline");
  return command === undefined || command.includes("postgres");
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
