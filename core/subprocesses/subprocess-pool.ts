import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { ServiceError } from "../errors.ts";
import { fairQueue } from "../fair-queue/fair-queue.ts";
import { log } from "../log.ts";
import { sourcePath } from "../source-path.ts";
import type { SubprocessMessage } from "./answer-in-subprocess.ts";

export type SubprocessPoolOptions = SubprocessLimits & {
  /** The name of the pool's queue in metrics, in snake_case. */
  name: string;
  /**
   * The maximum number of subprocesses. One caller gets at most half of them, and so do all anonymous callers together (core/fair-queue).
   */
  subprocesses: number;
};

type AskOptions<Answer> = {
  /** A resource, such as a repository: a caller's slots are shared among its resources. */
  within?: string | undefined;
  /** Called once a slot is free: the outcome of the same question, if it is known by then. Twenty callers with one question cost one slot. */
  known?: () => Outcome<Answer> | undefined;
};

/** All idle subprocesses but one end after this time. */
const IDLE_MAX_MS = 60_000;

/**
 * Subprocesses for work that hostile input can make very slow, such as parsing. The event loop serves everybody else meanwhile. Callers wait
 * in a fair queue: a stranger's hostile texts delay others by one turn, however many they are (S137).
 */
export class SubprocessPool<Question, Answer> {
  readonly #options: SubprocessPoolOptions;
  /** Idle and starting ones; the next one to use is the last. */
  readonly #idle: Promise<Subprocess>[] = [];

  constructor(options: SubprocessPoolOptions) {
    this.#options = options;
  }

  /** @returns `busy` if no slot was free in time */
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

  /** A subprocess that cannot start is returned with `isEnded`, and answers `busy`. */
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
  /** The module that it runs, by its path from the project's root; it calls `answerInSubprocess`. */
  module: string;
  /** The CPU time that one question may take. */
  cpuMaxMs: number;
  memoryMaxMb: number;
  /** As in nice(1), from 0 to 19; by default 10. */
  niceness?: number;
};

/** `too much`: it needs too much time or memory, also when repeated. `too large`: it threw. `busy`: no slot, or a slow machine; retry. */
export type Outcome<Answer> = { answer: Answer } | "too large" | "too much" | "busy";

/** Signals from outside: from the system when memory runs out, or from the operator who stops the service. No question causes them. */
const SIGNALS_FROM_OUTSIDE: ReadonlySet<NodeJS.Signals | null> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]);

const START_MAX_MS = 30_000;
/** The longest time by the clock, as a multiple of the CPU time: every caller must get an answer. */
const CLOCK_PER_CPU_TIME = 20;
/** The shortest pause between two checks of the CPU time of a question. */
const CHECK_MS = 20;
/** The CPU time of a subprocess for all its questions. The kernel kills it after twice as much, even if this process is gone. */
const LIFETIME_CPU_SECONDS = 60;

// The subprocess yields the CPU to other processes, and the kernel kills it before the service when the machine runs out of memory.
const LAUNCH = `ulimit -t ${2 * LIFETIME_CPU_SECONDS}
echo 1000 2>/dev/null >/proc/self/oom_score_adj
exec nice -n "$0" "$@"`;

/**
 * A process that answers one question at a time, each with a limit of CPU time. A limit of elapsed time would refuse harmless texts on a
 * busy machine: a refusal would not depend on the text alone and could not be remembered. A question over the limit ends the process.
 *
 * It is not a worker thread: when a thread reaches the limit of its heap, V8 often ends the whole process (docs/decisions/073).
 */
class Subprocess {
  readonly #child: ChildProcess;
  readonly #cpuMaxMs: number;
  /** The CPU time that it had used at its last message. */
  #cpuMs = 0;
  #isEnded = false;

  /** @returns one with `isEnded` if it did not start */
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
    // The program is named by its path, so that bundlers ignore it: Node runs the source file.
    const command = [process.execPath, `--max-old-space-size=${memoryMaxMb}`, sourcePath(module)];
    this.#child = spawn("/bin/sh", ["-c", LAUNCH, String(niceness), ...command], {
      env: {} as NodeJS.ProcessEnv,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    this.#child.unref();
    this.#child.channel?.unref();
    const isOver = () => {
      this.#isEnded = true;
    };
    this.#child.on("exit", isOver).on("error", isOver);
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
      // A process with a full heap aborts, and the question causes no other exit. After our own signal, `finish` has already removed this
      // listener.
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
      // If sending fails, the process has ended, and its exit settles the question.
      child.send(question as object, () => undefined);
    });
  }
}

const MS_PER_TICK = 10;

/** NaN on systems without /proc, such as macOS: there the clock is used. */
async function cpuMsOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // The command's name is in parentheses and may contain anything; user and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? Number.NaN) + Number(fields[12] ?? Number.NaN)) * MS_PER_TICK;
}
