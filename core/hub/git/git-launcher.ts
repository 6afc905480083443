import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childEnvironment } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { log } from "../../log.ts";
import { sourcePath } from "../../source-path.ts";

/** What is used here of a child process. */
export type GitProcess = Pick<
  ChildProcessWithoutNullStreams,
  "stdin" | "stdout" | "stderr" | "stdio" | "pid" | "exitCode" | "signalCode" | "kill" | "once" | "off" | "emit"
>;

export type GitCommand = { command: string; args: string[]; cwd: string; env: NodeJS.ProcessEnv; niceness?: number | undefined };

/** Messages to the launcher's process, and from it. */
export type Asked = { id: string } & (GitCommand | { kill: NodeJS.Signals });
export type Told = { id: string } & (
  | { pid: number }
  | { status: number | null; signal: NodeJS.Signals | null }
  | { failure: string }
);

const LAUNCH_MAX_MS = 10_000;
const HEADER_MAX_BYTES = 64;
const RESTART_MS = 1_000;
/** As many as the kernel lets wait for a busy process; Node's own is 511. */
const BACKLOG = 4_096;

/** The launcher is no more: git has to be started in another way. */
export class LauncherEnded extends Error {
  override name = "LauncherEnded";
  override message = "the launcher of git ended";
}

/**
 * Starts git from a small process beside this one. To start a process, Node copies the page tables of its own, and nothing else runs
 * meanwhile: 20 to 50 ms for a web process of 500 to 1,200 MB, and 1 ms for a small one. Each page of a repository starts git at
 * least once, so that this was most of what the web process did (docs/decisions/080).
 *
 * Git's streams are Unix sockets between it and this process: the launcher connects them, gives them to git and keeps nothing.
 */
export class GitLauncher {
  readonly #directory: string;
  readonly #server: Server;
  readonly #process: ChildProcess;
  readonly #launches = new Map<string, Launched>();
  #heardAt = Date.now();

  /** @param onEnd told when its process has ended; `launch` rejects from then on */
  static async start(onEnd: (error: Error) => void): Promise<GitLauncher> {
    const launcher = new GitLauncher(onEnd);
    try {
      await once(launcher.#server, "listening");
      return launcher;
    } catch (error) {
      launcher.stop();
      throw error;
    }
  }

  private constructor(onEnd: (error: Error) => void) {
    // Only this user may enter it.
    this.#directory = mkdtempSync(join(tmpdir(), "git-"));
    const socketPath = join(this.#directory, "streams");
    this.#server = createServer((socket) => this.#take(socket)).listen({ path: socketPath, backlog: BACKLOG });
    this.#server.unref();
    this.#process = spawn(
      process.execPath,
      ["--max-old-space-size=64", sourcePath("core/hub/git/git-launcher-process.ts"), socketPath],
      {
        env: childEnvironment({ NODE_OPTIONS: "" }),
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      },
    );
    this.#process.unref();
    this.#process.channel?.unref();
    this.#process.on("message", (told: Told) => {
      this.#heardAt = Date.now();
      this.#launches.get(told.id)?.hear(told);
    });
    const end = (error: Error) => {
      onEnd(error);
      this.#end(error);
    };
    this.#process.once("error", end).once("exit", () => end(new LauncherEnded()));
  }

  /** @throws LauncherEnded; ServiceError `unavailable` when it took too long; Error when git cannot be started */
  async launch(command: GitCommand, signal?: AbortSignal): Promise<GitProcess> {
    if (!this.#process.connected) throw new LauncherEnded();
    const id = randomUUID();
    const launched = new Launched((kill) => this.#ask({ id, kill }), signal);
    this.#launches.set(id, launched);
    launched.once("over", () => this.#launches.delete(id));
    // One that hangs is replaced.
    launched.once("late", () => Date.now() - this.#heardAt > LAUNCH_MAX_MS && this.#process.kill("SIGKILL"));
    this.#ask({ id, ...command });
    await launched.started;
    return launched as unknown as GitProcess;
  }

  /** Ends what it has started, too. */
  stop(): void {
    this.#process.removeAllListeners("exit");
    if (this.#process.connected) this.#process.disconnect();
    this.#end(new LauncherEnded());
  }

  #ask(asked: Asked): void {
    // When it cannot be sent, the launcher ends, and every launch hears of that.
    if (this.#process.connected) this.#process.send(asked, () => undefined);
  }

  #end(error: Error): void {
    this.#server.close();
    rmSync(this.#directory, { recursive: true, force: true });
    for (const launched of [...this.#launches.values()]) launched.lose(error);
  }

  /** The first line of a stream says whose it is. */
  #take(socket: Socket): void {
    let header = Buffer.alloc(0);
    const timer = setTimeout(() => socket.destroy(), LAUNCH_MAX_MS);
    // Git may go away before it has read everything; whoever writes to it learns of that by its status.
    socket.on("error", () => undefined);
    const read = () => {
      const chunk: Buffer | null = socket.read();
      if (!chunk) return;
      header = Buffer.concat([header, chunk]);
      const end = header.indexOf(10);
      if (end < 0 && header.length < HEADER_MAX_BYTES) return;
      clearTimeout(timer);
      socket.off("readable", read);
      const [id = "", number] = header.toString("latin1", 0, Math.max(0, end)).split(" ");
      if (header.length > end + 1) socket.unshift(header.subarray(end + 1));
      const launched = this.#launches.get(id);
      if (launched) launched.take(Number(number), socket);
      else socket.destroy();
    };
    socket.on("readable", read).once("close", () => clearTimeout(timer));
  }
}

/** A git process that the launcher starts, with the events and properties of Node's own child processes. */
class Launched extends EventEmitter {
  readonly stdio: (Socket | undefined)[] = [undefined, undefined, undefined];
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

  constructor(ask: (signal: NodeJS.Signals) => void, signal: AbortSignal | undefined) {
    super();
    this.#ask = ask;
    this.#timer = setTimeout(() => {
      this.emit("late");
      this.#refuse(new ServiceError("unavailable", "Git did not start in time. Try again shortly.", { retryAfterSeconds: 5 }));
    }, LAUNCH_MAX_MS);
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort);
    // Whoever is not listening learns of it by its end.
    this.on("error", () => undefined);
  }

  /** Rejects when it does not start. */
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

  take(number: number, stream: Socket): void {
    this.stdio[number] = stream;
    // Nothing comes from there but its end.
    if (number === 0) stream.resume();
    stream.once("close", () => this.#closeIfDone());
    this.#startIfReady();
  }

  hear(told: Told): void {
    if ("pid" in told) {
      this.pid = told.pid;
      this.#startIfReady();
    } else if ("status" in told) this.#exit(told.status, told.signal);
    else if (!this.#hasStarted) this.#refuse(new Error(told.failure));
  }

  /** Nobody knows any more what becomes of it. Without its streams it ends. */
  lose(error: Error): void {
    if (!this.#hasStarted) this.#refuse(error);
    for (const stream of this.stdio) stream?.destroy();
    this.#exit(null, "SIGKILL");
  }

  #startIfReady(): void {
    if (this.#hasStarted || this.#isRefused || this.pid === undefined || this.stdio.includes(undefined)) return;
    this.#hasStarted = true;
    clearTimeout(this.#timer);
    this.#start.resolve();
    // Much may have happened before the last of its streams came here. Whoever launched it listens by then.
    setImmediate(() => {
      if (this.#signal?.aborted) this.#abort();
      if (this.#isOver) this.#announceExit();
    });
  }

  readonly #abort = () => {
    if (!this.#hasStarted) return;
    this.kill();
    this.emit("error", this.#signal?.reason);
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

// One for the process: each bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookGitLauncher?: GitLauncher | undefined };

/** From now on this process starts git by a launcher, and by itself only while there is none. @returns what stops it */
export async function startGitLauncher(): Promise<() => void> {
  let isStopped = false;
  const tryAgain = (error: unknown) => {
    keeper.keyhookGitLauncher = undefined;
    if (isStopped) return;
    log().error({ err: error }, "git starts from this process until its launcher runs again");
    setTimeout(() => isStopped || void start(), RESTART_MS).unref();
  };
  const start = async () => {
    try {
      keeper.keyhookGitLauncher = await GitLauncher.start(tryAgain);
    } catch (error) {
      tryAgain(error);
    }
  };
  await start();
  return () => {
    isStopped = true;
    keeper.keyhookGitLauncher?.stop();
    keeper.keyhookGitLauncher = undefined;
  };
}

export const gitLauncher = (): GitLauncher | undefined => keeper.keyhookGitLauncher;
