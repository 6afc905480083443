import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { ServiceError } from "../../errors.ts";
import type { Niceness } from "./linux-process.ts";

export type GitProcess = Pick<
  ChildProcessWithoutNullStreams,
  "stdin" | "stdout" | "stderr" | "stdio" | "pid" | "exitCode" | "signalCode" | "kill" | "once" | "off" | "emit"
>;

export type GitCommand = {
  command: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  niceness?: Niceness | undefined;
  isLong?: boolean | undefined;
  /** A fourth, bidirectional stream for a hook. */
  hasChannel?: boolean | undefined;
};

export type LauncherRequest = { id: string } & (GitCommand | { kill: NodeJS.Signals });
export type LauncherReport = { id: string } & (
  | { pid: number }
  | { status: number | null; signal: NodeJS.Signals | null }
  | { failure: string }
);

export const LAUNCH_MAX_MS = 10_000;

const startTimedOut = () =>
  new ServiceError("unavailable", "Git did not start in time. Try again in a moment.", { retryAfterSeconds: 5 });

export class LaunchedGit extends EventEmitter {
  readonly stdio: (Socket | undefined)[];
  pid: number | undefined;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  readonly #ask: (signal: NodeJS.Signals) => void;
  readonly #start = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  #hasStarted = false;
  #isRefused = false;
  #isOver = false;

  constructor(streams: 3 | 4, ask: (signal: NodeJS.Signals) => void, signal: AbortSignal | undefined) {
    super();
    this.stdio = Array(streams).fill(undefined);
    this.#ask = ask;
    this.#timer = setTimeout(() => {
      this.emit("late");
      this.#refuse(startTimedOut());
    }, LAUNCH_MAX_MS);
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort);
    this.on("error", () => undefined);
  }

  get started(): Promise<void> {
    return this.#start.promise;
  }
  get stdin(): Socket | undefined {
    return this.stdio[0];
  }
  get stdout(): Socket | undefined {
    return this.stdio[1];
  }
  get stderr(): Socket | undefined {
    return this.stdio[2];
  }

  kill(signal: NodeJS.Signals = "SIGTERM"): boolean {
    if (!this.#isOver) this.#ask(signal);
    return !this.#isOver;
  }

  attach(number: number, stream: Socket): void {
    this.stdio[number] = stream;
    // Git never writes to stdin, so only the end arrives.
    if (number === 0) stream.resume();
    stream.once("close", () => this.#closeIfDone());
    this.#startIfReady();
  }

  handleReport(report: LauncherReport): void {
    if ("pid" in report) {
      this.pid = report.pid;
      this.#startIfReady();
    } else if ("status" in report) this.#exit(report.status, report.signal);
    else if (!this.#hasStarted) this.#refuse(new Error(report.failure));
  }

  /** Callers rely on git changing no ref after its exit, so git is killed first. */
  launcherEnded(error: Error): void {
    if (!this.#hasStarted) this.#refuse(error);
    for (const stream of this.stdio) stream?.destroy();
    if (!this.#isOver) killProcess(this.pid);
    this.#exit(null, "SIGKILL");
  }

  #startIfReady(): void {
    if (this.#hasStarted || this.#isRefused || this.pid === undefined || this.stdio.includes(undefined)) return;
    this.#hasStarted = true;
    clearTimeout(this.#timer);
    this.#start.resolve();
    // Waits until the caller of `launch` has added listeners, because git may have ended already.
    setImmediate(() => {
      if (this.#signal?.aborted) this.#abort();
      if (this.#isOver) this.#announceExit();
    });
  }

  readonly #abort = () => {
    const reason = this.#signal?.reason;
    // A deadline that passes before the start of git is not an internal error.
    if (!this.#hasStarted) return this.#refuse(reason?.name === "TimeoutError" ? startTimedOut() : reason);
    this.kill();
    this.emit("error", reason);
  };

  #refuse(reason: unknown): void {
    clearTimeout(this.#timer);
    for (const stream of this.stdio) stream?.destroy();
    this.kill("SIGKILL");
    this.#isRefused = true;
    this.#isOver = true;
    this.#forget();
    this.#start.reject(reason);
  }

  #exit(status: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    [this.exitCode, this.signalCode] = [status, signal];
    if (this.#hasStarted) this.#announceExit();
  }

  #forget(): void {
    this.#signal?.removeEventListener("abort", this.#abort);
    this.emit("over");
  }

  #announceExit(): void {
    this.#forget();
    this.emit("exit", this.exitCode, this.signalCode);
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#isOver && this.#hasStarted && this.stdio.every((stream) => stream?.closed)) {
      this.emit("close", this.exitCode, this.signalCode);
      this.removeAllListeners("close");
    }
  }
}

function killProcess(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  } catch {}
}
