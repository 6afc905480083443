import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import type { LauncherReport, LauncherRequest } from "./launched-git.ts";
import { childrenOf, lowerPriority, type Niceness, readProcess } from "./linux-process.ts";

type Launch = Extract<LauncherRequest, { command: string }>;

const socketPath = process.argv[2] as string;
const running = new Map<string, { kill(signal?: NodeJS.Signals): void }>();
const send = (report: LauncherReport) => process.connected && process.send?.(report);

const starting = new Map<string, NodeJS.Signals | undefined>();

process.on("message", (request: LauncherRequest) => {
  if ("command" in request) void start(request);
  else if (starting.has(request.id)) starting.set(request.id, request.kill);
  else running.get(request.id)?.kill(request.kill);
});

async function start(request: Launch): Promise<void> {
  const { id } = request;
  starting.set(id, undefined);
  await launch(request).catch((error: Error) => send({ id, failure: error.message }));
  const signal = starting.get(id);
  starting.delete(id);
  if (signal) running.get(id)?.kill(signal);
}

// The web process finishes its requests, and then ends this process.
process.on("SIGINT", () => undefined).on("SIGTERM", () => undefined);
process.once("disconnect", () => {
  for (const child of running.values()) child.kill("SIGKILL");
  process.exit();
});

async function launch({ id, command, args, cwd, env, niceness, isLong, hasChannel }: Launch): Promise<void> {
  const streams = (hasChannel ? [0, 1, 2, 3] : [0, 1, 2]).map(() => connect(socketPath).pause());
  try {
    await Promise.all(streams.map((stream, number) => writeHeader(stream, `${id} ${number}\n`)));
    if (streams[3]) makeBlocking(streams[3]);
    const child = spawn(command, args, { cwd, env, stdio: streams });
    child.once("error", (error) => send({ id, failure: error.message }));
    if (child.pid === undefined) return;
    const stopWatching = niceness ? lowerPriorityLater(child.pid, niceness, isLong ? 0 : YOUNG_MS) : () => undefined;
    running.set(id, child);
    child.once("exit", (status, signal) => {
      stopWatching();
      running.delete(id);
      send({ id, status, signal });
    });
    send({ id, pid: child.pid });
  } finally {
    for (const stream of streams) stream.destroy();
  }
}

/** A hook's shell cannot read from a non-blocking socket, and Node makes only a child's first three streams blocking. */
function makeBlocking(stream: Socket): void {
  (stream as unknown as { _handle: { setBlocking(isBlocking: boolean): void } })._handle.setBlocking(true);
}

function writeHeader(stream: Socket, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once("error", reject).write(line, () => resolve());
  });
}

const YOUNG_MS = 50;
const CHECK_MS = 20;
const CHECK_MAX_MS = 320;
/** USER_HZ is 100. */
const TICK_MS = 10;

/** Short work must not wait for long work (S137). */
function lowerPriorityLater(pid: number, niceness: Niceness, youngMs: number): () => void {
  let before = 0;
  const check = (afterMs: number) => {
    const family = [pid, ...childrenOf(pid)];
    const used = family.reduce((sum, each) => sum + usedMs(each), 0);
    if (used >= youngMs) for (const each of family) lowerPriority(each, niceness);
    else checkAfter(used > before ? CHECK_MS : Math.min(afterMs * 2, CHECK_MAX_MS));
    before = used;
  };
  const checkAfter = (afterMs: number) => {
    timer = setTimeout(check, afterMs, afterMs);
  };
  let timer: NodeJS.Timeout | undefined;
  if (youngMs > 0) checkAfter(CHECK_MS);
  else check(0);
  return () => clearTimeout(timer);
}

/** Includes children that have ended. Without /proc, returns YOUNG_MS, which lowers the priority at once. */
function usedMs(pid: number): number {
  const ticks = readProcess(`${pid}/stat`).split(") ").at(-1)?.split(" ").slice(11, 15);
  return ticks?.length ? ticks.reduce((sum, each) => sum + Number(each), 0) * TICK_MS : YOUNG_MS;
}
