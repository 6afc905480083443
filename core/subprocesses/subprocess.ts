import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { log } from "../log.ts";
import { sourcePath } from "../source-path.ts";
import type { Said } from "./answer-in-subprocess.ts";

export type SubprocessLimits = {
  /** What it runs, by its path from the project's root: a module that calls `answerInSubprocess`. */
  module: string;
  /** How much CPU time one question may take. */
  cpuMaxMs: number;
  memoryMaxMb: number;
  /** How much it leaves the processor to others, from 0 (not at all) to 19; 10 unless said. */
  niceness?: number;
};

/**
 * `too much`: it took too much time or memory, and would again. `too large`: the program refused it (it threw). `busy`: the machine did
 * not get to it, so ask again later.
 */
export type Outcome<Answer> = { answer: Answer } | "too large" | "too much" | "busy";

/** Signals that somebody else sends: the system when memory runs out, and whoever stops the service. No question causes them. */
const SIGNALS_FROM_OUTSIDE: ReadonlySet<NodeJS.Signals | null> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]);

const START_MAX_MS = 30_000;
/** How long a question may take by the clock, in multiples of its CPU time: whoever waits for the answer must get one. */
const CLOCK_PER_CPU_TIME = 20;
/** The shortest pause between two looks at the CPU time of a question. */
const LOOK_MS = 20;
/** Of all of its questions together. The kernel ends it after twice as much, also when this process is no more. */
const LIFETIME_CPU_SECONDS = 60;

// It yields to whatever else wants the CPU, and dies before the service when the machine runs out of memory.
const LAUNCH = `ulimit -t ${2 * LIFETIME_CPU_SECONDS}
echo 1000 2>/dev/null >/proc/self/oom_score_adj
exec nice -n "$0" "$@"`;

/**
 * A process that answers one question at a time, each within a limit of CPU time. A limit by the clock would fail honest texts on a busy
 * machine, and then nobody could remember by a text's content that it is too much. It ends with a question over its limit.
 *
 * Not a worker thread: when a thread reaches the limit of its heap, V8 often ends the whole process (docs/decisions/073).
 */
export class Subprocess {
  readonly #child: ChildProcess;
  readonly #cpuMaxMs: number;
  /** What it had used when it last said something. */
  #cpuMs = 0;
  #isEnded = false;

  /** @returns one that `isEnded` when it did not start */
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
    // By name, so that no bundler looks into it: Node runs the file itself, as it is.
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
    this.#child.on("message", ({ cpuMicroseconds }: Said<unknown>) => {
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
        clearTimeout(nextLook);
        child.off("message", answer).off("exit", fail);
        resolve(outcome);
      };
      const answer = (said: Said<Answer>) => finish(said.kind === "answer" ? { answer: said.answer } : "too large");
      // A heap over its limit aborts, and our own signal comes after `finish`. Any other death is not this question's fault.
      const fail = (_code: number | null, signal: NodeJS.Signals | null) =>
        finish(SIGNALS_FROM_OUTSIDE.has(signal) ? "busy" : "too much");
      const look = async () => {
        const byClock = Date.now() - start;
        const usedMs = (await cpuMsOf(child.pid)) - before;
        if (isOver) return;
        const leftMs = this.#cpuMaxMs - (Number.isNaN(usedMs) ? byClock : usedMs);
        if (leftMs > 0 && byClock < this.#cpuMaxMs * CLOCK_PER_CPU_TIME) {
          nextLook = setTimeout(look, Math.max(LOOK_MS, leftMs));
          return;
        }
        this.end();
        finish(leftMs > 0 ? "busy" : "too much");
      };
      let nextLook = setTimeout(look, this.#cpuMaxMs);
      child.on("message", answer).on("exit", fail);
      // What it cannot be sent any more it does not answer; its exit is heard.
      child.send(question as object, () => undefined);
    });
  }
}

const MS_PER_TICK = 10;

/** NaN where the system does not say, as on macOS: there the clock has to do. */
async function cpuMsOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // The command's name stands in parentheses, and may hold anything; user and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? Number.NaN) + Number(fields[12] ?? Number.NaN)) * MS_PER_TICK;
}
