import { Worker } from "node:worker_threads";
import type { Root } from "hast";
import { log } from "../../log.ts";
import { sourcePath } from "../../source-path.ts";
import type { MarkdownPlace } from "./place.ts";

/** Longer than any text that is meant to be read takes, on a busy machine. */
const LIMIT_MS = 3_000;
const START_LIMIT_MS = 30_000;
const THREADS = 2;
const WAITING_MAX = 500;
/** Whoever looks at a page is not kept longer by what others look at. */
const WAIT_MAX_MS = 10_000;
const MEMORY_MAX_MB = 256;

/** `too much`: too long, too deep or too large to be drawn. `busy`: it was not even begun. */
export type LaidOut = Root | "too much" | "busy";

/** Markdown, or code to be coloured: in either there are short texts that keep a parser busy for hours. */
export type ToLayOut = { text: string; place: MarkdownPlace } | { code: string; language: string };

type Job = { asked: ToLayOut; done: (outcome: LaidOut) => void; tooLong: NodeJS.Timeout };
type Pool = { threads: number; idle: Worker[]; waiting: Job[] };

// One for the process: each bundle of Next makes its own module instances (architecture decision 7).
const keeper = globalThis as typeof globalThis & { keyhookMarkdownThreads?: Pool };
keeper.keyhookMarkdownThreads ??= { threads: 0, idle: [], waiting: [] };
const pool = keeper.keyhookMarkdownThreads;

/**
 * Lays a text out in a thread of its own: nobody else must wait for those that take very long. A thread that takes too long or too much memory is ended.
 */
export function layOut(asked: ToLayOut, waitMaxMs = WAIT_MAX_MS): Promise<LaidOut> {
  return new Promise((done) => {
    if (pool.waiting.length >= WAITING_MAX) return done("busy");
    const tooLong = setTimeout(() => {
      pool.waiting = pool.waiting.filter((one) => one !== job);
      done("busy");
    }, waitMaxMs);
    const job: Job = { asked, done, tooLong };
    pool.waiting.push(job);
    takeNext();
  });
}

function takeNext(): void {
  if (pool.waiting.length === 0) return;
  const idle = pool.idle.pop();
  if (idle) run(idle, pool.waiting.shift() as Job);
  else if (pool.threads < THREADS) void startThread();
}

async function startThread(): Promise<void> {
  pool.threads += 1;
  // By name, so that no bundler looks into it: Node runs the file itself, as it is.
  const thread = new Worker(sourcePath("core/hub/markdown/markdown-thread.ts"), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MAX_MB },
  });
  thread.unref();
  // What it failed of is told by its end; unheard, an error would end this process.
  thread.on("error", () => undefined);
  thread.on("exit", () => forget(thread));
  const first = await answerOf(thread, START_LIMIT_MS);
  if (first === "ready") {
    pool.idle.push(thread);
    takeNext();
    return;
  }
  log().error("the thread for Markdown does not start");
  for (const { done, tooLong } of pool.waiting.splice(0)) {
    clearTimeout(tooLong);
    done("busy");
  }
}

function forget(thread: Worker): void {
  pool.threads -= 1;
  pool.idle = pool.idle.filter((one) => one !== thread);
  takeNext();
}

function run(thread: Worker, { asked, done, tooLong }: Job): void {
  clearTimeout(tooLong);
  const answer = answerOf(thread, LIMIT_MS);
  thread.postMessage(asked);
  void answer.then((tree) => {
    done((tree as Root | null | undefined) ?? "too much");
    if (tree === undefined) return;
    pool.idle.push(thread);
    takeNext();
  });
}

/** What a thread says next; undefined when it says nothing in time, or no more: then it is ended. */
function answerOf(thread: Worker, limitMs: number): Promise<unknown> {
  return new Promise((resolve) => {
    const finish = (answer?: unknown) => {
      clearTimeout(timer);
      thread.off("message", finish).off("exit", lose);
      if (answer === undefined) void thread.terminate();
      resolve(answer);
    };
    const lose = () => finish();
    const timer = setTimeout(lose, limitMs);
    thread.on("message", finish).on("exit", lose);
  });
}
