import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { ServiceError } from "../errors.ts";
import { fairQueue } from "../fair-queue/fair-queue.ts";
import { log } from "../log.ts";
import { sourcePath } from "../source-path.ts";
import type { SubprocessMessage } from "./answer-in-subprocess.ts";

export type SubprocessPoolOptions = SubprocessLimits & {
  name: string;
  /** One caller gets at most half, and so do all anonymous callers together. */
  subprocesses: number;
};

type AskOptions<Answer> = {
  within?: string | undefined;
  /** Returns the answer if another caller got it in the meantime. Called when a slot is free, before the work starts. */
  known?: () => Outcome<Answer> | undefined;
};

const IDLE_MAX_MS = 60_000;

/** Hostile input can make work such as rendering Markdown very slow. Others wait for at most one turn of the sender (S137). */
export class SubprocessPool<Question, Answer> {
  readonly #options: SubprocessPoolOptions;
  /** Contains starting subprocesses too. The last one is used next. */
  readonly #idle: Promise<Subprocess>[] = [];

  constructor(options: SubprocessPoolOptions) {
    this.#options = options;
  }

  async ask(question: Question, { within, known }: AskOptions<Answer> = {}): Promise<Outcome<Answer>> {
    const { name, subprocesses } = this.#options;
    const work = () => known?.() ?? this.#answer(question);
    try {
      return await fairQueue({ name, slots: subprocesses }).run(work, within === undefined ? {} : { within });
    } catch (error) {
      if (error instanceof ServiceError && error.code === "unavailable") return "busy";
      throw error;
    }
  }

  async #answer(question: Question): Promise<Outcome<Answer>> {
    const idle = await (this.#idle.pop() ?? this.#start());
    // An idle subprocess may have been killed meanwhile.
    const subprocess = idle.isEnded ? await this.#start() : idle;
    const outcome = await subprocess.ask<Answer>(question);
    if (subprocess.isEnded) this.#idle.unshift(this.#start());
    else this.#rest(subprocess);
    return outcome;
  }

  /** A subprocess that cannot start has `isEnded`, and answers `busy`. */
  #start(): Promise<Subprocess> {
    return Subprocess.start(this.#options);
  }

  #rest(subprocess: Subprocess): void {
    const resting = Promise.resolve(subprocess);
    this.#idle.push(resting);
    setTimeout(() => {
      const index = this.#idle.indexOf(resting);
      if (index < 0 || this.#idle.length === 1) return;
      this.#idle.splice(index, 1);
      subprocess.end();
    }, IDLE_MAX_MS).unref();
  }
}

type SubprocessLimits = {
  /** The module's path from the project's root. The module calls `answerInSubprocess`. */
  module: string;
  cpuMaxMs: number;
  memoryMaxMb: number;
  niceness?: number;
};

/** `too much`: the work always needs too much time or memory. `too large`: the work threw an error. `busy`: retry. */
export type Outcome<Answer> = { answer: Answer } | "too large" | "too much" | "busy";

/** The system or the operator sends these signals. No question causes them. */
const SIGNALS_FROM_OUTSIDE: ReadonlySet<NodeJS.Signals | null> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]);

const START_MAX_MS = 30_000;
/** Limits the elapsed time to a multiple of the CPU time, so that every caller gets an answer. */
const CLOCK_PER_CPU_TIME = 20;
const CHECK_MS = 20;
/** The limit for all questions of a subprocess together. The kernel ends the subprocess after twice this time. */
const LIFETIME_CPU_SECONDS = 60;

// When memory runs out, the kernel kills the subprocess before the service.
const LAUNCH = `ulimit -t ${2 * LIFETIME_CPU_SECONDS}
echo 1000 2>/dev/null >/proc/self/oom_score_adj
exec nice -n "$0" "$@"`;

/**
 * Limits CPU time, because elapsed time depends on the machine's load, and callers remember a refusal. Uses a process, because a
 * thread with a full heap would end the whole service (docs/decisions/073).
 */
class Subprocess {
  readonly #child: ChildProcess;
  readonly #cpuMaxMs: number;
  #cpuMs = 0;
  #isEnded = false;

  static start(limits: SubprocessLimits): Promise<Subprocess> {
    const subprocess = new Subprocess(limits);
    const child = subprocess.#child;
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        child.off("message", settle).off("exit", settle).off("error", settle);
        if (subprocess.#isEnded) log().error({ module: limits.module }, "a subprocess does not start");
        resolve(subprocess);
      };
      const timer = setTimeout(() => subprocess.end(), START_MAX_MS);
      child.on("message", settle).on("exit", settle).on("error", settle);
    });
  }

  private constructor({ module, cpuMaxMs, memoryMaxMb, niceness = 10 }: SubprocessLimits) {
    this.#cpuMaxMs = cpuMaxMs;
    // The module is named by its path, because bundlers ignore such a module.
    const command = [process.execPath, `--max-old-space-size=${memoryMaxMb}`, sourcePath(module)];
    this.#child = spawn("/bin/sh", ["-c", LAUNCH, String(niceness), ...command], {
      env: {} as NodeJS.ProcessEnv,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    this.#child.unref();
    this.#child.channel?.unref();
    const markEnded = () => {
      this.#isEnded = true;
    };
    this.#child.on("exit", markEnded).on("error", markEnded);
    this.#child.on("message", ({ cpuMicroseconds }: SubprocessMessage<unknown>) => {
      this.#cpuMs = cpuMicroseconds / 1_000;
      if (this.#cpuMs > LIFETIME_CPU_SECONDS * 1_000) this.end();
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  end(): void {
    this.#isEnded = true;
    this.#child.kill("SIGKILL");
  }

  ask<Answer>(question: unknown): Promise<Outcome<Answer>> {
    if (this.#isEnded) return Promise.resolve("busy");
    const child = this.#child;
    const before = this.#cpuMs;
    const start = Date.now();
    return new Promise((resolve) => {
      let isOver = false;
      const finish = (outcome: Outcome<Answer>) => {
        isOver = true;
        clearTimeout(nextCheck);
        child.off("message", answer).off("exit", fail);
        resolve(outcome);
      };
      const answer = (message: SubprocessMessage<Answer>) =>
        finish(message.kind === "answer" ? { answer: message.answer } : "too large");
      // A process aborts when its heap is full. A question causes no other exit.
      const fail = (_code: number | null, signal: NodeJS.Signals | null) =>
        finish(SIGNALS_FROM_OUTSIDE.has(signal) ? "busy" : "too much");
      const check = async () => {
        const byClock = Date.now() - start;
        const usedMs = (await cpuMsOf(child.pid)) - before;
        if (isOver) return;
        const leftMs = this.#cpuMaxMs - (Number.isNaN(usedMs) ? byClock : usedMs);
        if (leftMs > 0 && byClock < this.#cpuMaxMs * CLOCK_PER_CPU_TIME) {
          nextCheck = setTimeout(check, Math.max(CHECK_MS, leftMs));
          return;
        }
        this.end();
        finish(leftMs > 0 ? "busy" : "too much");
      };
      let nextCheck = setTimeout(check, this.#cpuMaxMs);
      child.on("message", answer).on("exit", fail);
      // If sending fails, the process has ended, and the exit settles the question.
      child.send(question as object, () => undefined);
    });
  }
}

const MS_PER_TICK = 10;

/** @returns NaN on systems without /proc, where the caller uses the clock */
async function cpuMsOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // The command's name may contain spaces and brackets. User and system time are the 12th and 13th fields after the name.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? Number.NaN) + Number(fields[12] ?? Number.NaN)) * MS_PER_TICK;
}
