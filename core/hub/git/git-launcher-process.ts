import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import type { Asked, Told } from "./launched-git.ts";
import { childrenOf, lowerPriority, type Niceness, readProcess } from "./linux-process.ts";

/** The program that `GitLauncher` runs (git-launcher.ts explains the reasons). It starts git, passes on signals, and reports git's exit. */

type Launch = Extract<Asked, { command: string }>;

const socketPath = process.argv[2] as string;
const running = new Map<string, { kill(signal?: NodeJS.Signals): void }>();
const tell = (what: Told) => process.connected && process.send?.(what);

/** The commands being started, each with the last signal requested meanwhile. */
const starting = new Map<string, NodeJS.Signals | undefined>();

process.on("message", (asked: Asked) => {
  if ("command" in asked) void start(asked);
  else if (starting.has(asked.id)) starting.set(asked.id, asked.kill);
  else running.get(asked.id)?.kill(asked.kill);
});

async function start(asked: Launch): Promise<void> {
  const { id } = asked;
  starting.set(id, undefined);
  await launch(asked).catch((error: Error) => tell({ id, failure: error.message }));
  const signal = starting.get(id);
  starting.delete(id);
  if (signal) running.get(id)?.kill(signal);
}

// A signal to stop the service is for the web process, which finishes its requests and then ends this process.
process.on("SIGINT", () => undefined).on("SIGTERM", () => undefined);
// The web process is gone: nobody reads git's output.
process.once("disconnect", () => {
  for (const child of running.values()) child.kill("SIGKILL");
  process.exit();
});

async function launch({ id, command, args, cwd, env, niceness, isLong }: Launch): Promise<void> {
  const streams = [0, 1, 2].map(() => connect(socketPath).pause());
  try {
    await Promise.all(streams.map((stream, number) => announced(stream, `${id} ${number}\n`)));
    const child = spawn(command, args, { cwd, env, stdio: streams });
    child.once("error", (error) => tell({ id, failure: error.message }));
    if (child.pid === undefined) return;
    const stopAgeing = niceness ? age(child.pid, niceness, isLong ? 0 : YOUNG_MS) : () => undefined;
    running.set(id, child);
    child.once("exit", (status, signal) => {
      stopAgeing();
      running.delete(id);
      tell({ id, status, signal });
    });
    tell({ id, pid: child.pid });
  } finally {
    // Git has its own copies now.
    for (const stream of streams) stream.destroy();
  }
}

/** Writes the line that names a connection's stream. Nothing is read here, because all arriving bytes are git's input. */
function announced(stream: Socket, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once("error", reject).write(line, () => resolve());
  });
}

/** The processor time that git may use before its priority is lowered: a small clone and most pages take less. */
const YOUNG_MS = 50;
const LOOK_MS = 20;
/** A process that does nothing, for example between two requests, is checked less and less often. This is the longest interval. */
const LOOK_MAX_MS = 320;
/** The unit of times in /proc: USER_HZ is 100. */
const TICK_MS = 10;

/**
 * Starts git at normal priority, and lowers it for git and its children once they have used `youngMs` of processor time. So short work does
 * not wait for long work, whoever requested either (S137).
 */
function age(pid: number, niceness: Niceness, youngMs: number): () => void {
  let before = 0;
  const look = (afterMs: number) => {
    const family = [pid, ...childrenOf(pid)];
    const used = family.reduce((sum, each) => sum + usedMs(each), 0);
    if (used >= youngMs) for (const each of family) lowerPriority(each, niceness);
    else lookAfter(used > before ? LOOK_MS : Math.min(afterMs * 2, LOOK_MAX_MS));
    before = used;
  };
  const lookAfter = (afterMs: number) => {
    timer = setTimeout(look, afterMs, afterMs);
  };
  let timer: NodeJS.Timeout | undefined;
  if (youngMs > 0) lookAfter(LOOK_MS);
  else look(0);
  return () => clearTimeout(timer);
}

/** Includes its children that have ended. @returns YOUNG_MS where the system does not tell, so that the priority is lowered at once */
function usedMs(pid: number): number {
  const ticks = readProcess(`${pid}/stat`).split(") ").at(-1)?.split(" ").slice(11, 15);
  return ticks?.length ? ticks.reduce((sum, each) => sum + Number(each), 0) * TICK_MS : YOUNG_MS;
}
