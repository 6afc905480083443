import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setPriority } from "node:os";
import type { Asked, Told } from "./git-launcher.ts";

/** The program of `GitLauncher`, which says why there is one. */

type Launch = Extract<Asked, { command: string }>;

const socketPath = process.argv[2] as string;
const running = new Map<string, { kill(signal?: NodeJS.Signals): void }>();
const tell = (what: Told) => process.connected && process.send?.(what);

/** What is being started, with the signal that came for it meanwhile. */
const starting = new Map<string, NodeJS.Signals | undefined>();
const waiting: Launch[] = [];
/** Each is three connections, of which the other side lets few wait. */
const STARTING_MAX = 64;

process.on("message", (asked: Asked) => {
  if ("command" in asked) {
    waiting.push(asked);
    startWaiting();
  } else if (starting.has(asked.id)) starting.set(asked.id, asked.kill);
  else running.get(asked.id)?.kill(asked.kill);
});

function startWaiting(): void {
  while (starting.size < STARTING_MAX) {
    const next = waiting.shift();
    if (!next) return;
    starting.set(next.id, undefined);
    launch(next)
      .catch((error: Error) => tell({ id: next.id, failure: error.message }))
      .finally(() => {
        const signal = starting.get(next.id);
        starting.delete(next.id);
        if (signal) running.get(next.id)?.kill(signal);
        startWaiting();
      });
  }
}

// Whoever stops the service tells the web process, which finishes what it does.
process.on("SIGINT", () => undefined).on("SIGTERM", () => undefined);
// Nobody is left to read what they find out.
process.once("disconnect", () => {
  for (const child of running.values()) child.kill("SIGKILL");
  process.exit();
});

async function launch({ id, command, args, cwd, env, niceness }: Launch): Promise<void> {
  const streams = [0, 1, 2].map(() => connect(socketPath).pause());
  try {
    await Promise.all(streams.map((stream, number) => announced(stream, `${id} ${number}\n`)));
    const child = spawn(command, args, { cwd, env, stdio: streams });
    child.once("error", (error) => tell({ id, failure: error.message }));
    if (child.pid === undefined) return;
    const stopAgeing = niceness ? age(child.pid, niceness) : () => undefined;
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

/** The first line down a connection says what it is for. What comes back is for git alone. */
function announced(stream: Socket, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once("error", reject).write(line, () => resolve());
  });
}

/** What git may use of the processor before it gives way: a small clone and most pages take less. */
const YOUNG_MS = 50;
const LOOK_MS = 20;
/** Of the kernel's clock. */
const TICK_MS = 10;

/**
 * Lets git begin like everybody else, and gives it and its children their niceness when they have used YOUNG_MS of processor time: so
 * what is soon done does not wait for what takes long, whoever asked for either (S137).
 */
function age(pid: number, niceness: number): () => void {
  const timer = setInterval(() => {
    const family = [pid, ...childrenOf(pid)];
    if (family.reduce((sum, each) => sum + usedMs(each), 0) < YOUNG_MS) return;
    clearInterval(timer);
    for (const each of family.flatMap(threadsOf)) lowerPriority(each, niceness);
  }, LOOK_MS);
  return () => clearInterval(timer);
}

/** With its children that have ended. @returns what is enough to give way where nobody can tell */
function usedMs(pid: number): number {
  const ticks = readProcess(`${pid}/stat`)?.split(") ").at(-1)?.split(" ").slice(11, 15);
  return ticks ? ticks.reduce((sum, each) => sum + Number(each), 0) * TICK_MS : YOUNG_MS;
}

const childrenOf = (pid: number): number[] =>
  (readProcess(`${pid}/task/${pid}/children`) ?? "").split(" ").filter(Boolean).map(Number);

function readProcess(name: string): string | undefined {
  try {
    return readFileSync(`/proc/${name}`, "latin1");
  } catch {
    return undefined; // it has ended, or this is not Linux
  }
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It may have ended already.
  }
}
