import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childEnvironment } from "../../env.ts";
import { log } from "../../log.ts";
import { sourcePath } from "../../source-path.ts";
import {
  type GitCommand,
  type GitProcess,
  LAUNCH_MAX_MS,
  LaunchedGit,
  type LauncherReport,
  type LauncherRequest,
} from "./launched-git.ts";

const DIRECTORY_PREFIX = "keyhook-git-";
const SOCKET = "streams";
const HEADER_MAX_BYTES = 64;
const RESTART_MS = 1_000;
/** The most that Linux allows by default. */
const BACKLOG = 4_096;
/** Up to four connections for each start must fit into BACKLOG. */
const STARTING_MAX = 64;

export class LauncherEnded extends Error {
  override name = "LauncherEnded";
  override message = "the launcher of git ended";
}

/** A start of git would block a large process for long, so a small process starts it (docs/decisions/080). */
export class GitLauncher {
  readonly #directory: string;
  readonly #server: Server;
  readonly #process: ChildProcess;
  readonly #launches = new Map<string, LaunchedGit>();
  readonly #starting = new Set<string>();
  /** A start that is aborted while it waits here never happens. */
  readonly #waiting = new Map<string, GitCommand>();
  #heardAt = Date.now();

  /** @param onEnd is called when the launcher's process has ended. Afterwards `launch` rejects. */
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
    this.#directory = mkdtempSync(join(tmpdir(), DIRECTORY_PREFIX));
    const socketPath = join(this.#directory, SOCKET);
    this.#server = createServer((socket) => this.#accept(socket)).listen({ path: socketPath, backlog: BACKLOG });
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
    this.#process.on("message", (report: LauncherReport) => {
      this.#heardAt = Date.now();
      if (this.#starting.delete(report.id)) this.#startWaiting();
      this.#launches.get(report.id)?.handleReport(report);
    });
    const end = (error: Error) => {
      onEnd(error);
      this.#end(error);
    };
    this.#process.once("error", end).once("exit", () => end(new LauncherEnded()));
  }

  /**
   * @throws LauncherEnded if the launcher has ended
   * @throws ServiceError `unavailable` if the start took too long
   * @throws Error if git cannot be started
   */
  async launch(command: GitCommand, signal?: AbortSignal): Promise<GitProcess> {
    if (!this.#process.connected) throw new LauncherEnded();
    const id = randomUUID();
    const kill = (signal: NodeJS.Signals) => this.#waiting.delete(id) || this.#ask({ id, kill: signal });
    const launched = new LaunchedGit(command.hasChannel ? 4 : 3, kill, signal);
    this.#launches.set(id, launched);
    launched.once("over", () => this.#launches.delete(id));
    launched.once("late", () => Date.now() - this.#heardAt > LAUNCH_MAX_MS && this.#process.kill("SIGKILL"));
    this.#waiting.set(id, command);
    this.#startWaiting();
    await launched.started;
    return launched as unknown as GitProcess;
  }

  #startWaiting(): void {
    for (const [id, command] of this.#waiting) {
      if (this.#starting.size >= STARTING_MAX) return;
      this.#waiting.delete(id);
      this.#starting.add(id);
      this.#ask({ id, ...command });
    }
  }

  stop(): void {
    this.#process.removeAllListeners("exit");
    if (this.#process.connected) this.#process.disconnect();
    this.#end(new LauncherEnded());
  }

  #ask(request: LauncherRequest): void {
    if (this.#process.connected) this.#process.send(request, () => undefined);
  }

  #end(error: Error): void {
    this.#server.close();
    rmSync(this.#directory, { recursive: true, force: true });
    for (const launched of [...this.#launches.values()]) launched.launcherEnded(error);
  }

  #accept(socket: Socket): void {
    let header = Buffer.alloc(0);
    const timer = setTimeout(() => socket.destroy(), LAUNCH_MAX_MS);
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
      if (launched) launched.attach(Number(number), socket);
      else socket.destroy();
    };
    socket.on("readable", read).once("close", () => clearTimeout(timer));
  }
}

// Each bundle of Next creates its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookGitLauncher?: GitLauncher | undefined };

export async function startGitLauncher(): Promise<() => void> {
  let isStopped = false;
  const restartLater = (error: unknown) => {
    keeper.keyhookGitLauncher = undefined;
    if (isStopped) return;
    log().error({ err: error }, "this process starts git itself until its launcher runs again");
    setTimeout(() => isStopped || void start(), RESTART_MS).unref();
  };
  const start = async () => {
    try {
      keeper.keyhookGitLauncher = await GitLauncher.start(restartLater);
    } catch (error) {
      restartLater(error);
    }
  };
  await start();
  void removeLeftDirectories().catch((err: unknown) =>
    log().warn({ err }, "leftover directories of git launchers could not be removed"),
  );
  return () => {
    isStopped = true;
    keeper.keyhookGitLauncher?.stop();
    keeper.keyhookGitLauncher = undefined;
  };
}

/** A socket that is being created refuses connections for a moment, so young directories stay. */
const CREATING_MS = 60_000;

async function removeLeftDirectories(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(DIRECTORY_PREFIX)) continue;
    const directory = join(tmpdir(), name);
    const made = await stat(directory).catch(() => undefined);
    if (!made || Date.now() - made.mtimeMs < CREATING_MS || !(await isDeserted(join(directory, SOCKET)))) continue;
    await rm(directory, { recursive: true, force: true });
  }
}

/** @returns false for the sockets of other users, which cannot be reached */
function isDeserted(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
  });
}

export const gitLauncher = (): GitLauncher | undefined => keeper.keyhookGitLauncher;
