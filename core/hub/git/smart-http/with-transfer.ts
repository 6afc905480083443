import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FairQueue } from "../../../fair-queue/fair-queue.ts";
import { watchPace } from "../../../http/pace.ts";
import { log } from "../../../log.ts";
import type { GitProcess } from "../launched-git.ts";
import { type SpawnOptions, spawnGit } from "../run-git.ts";
import { TRANSFER_MAX_MS } from "./transfer-settings.ts";

export type Transfer = {
  child: GitProcess;
  /** Resolves when git has ended and all its output was read. */
  closed: Promise<void>;
  /** Ends git when the client disconnects: nobody reads its output then. */
  endWithClient(res: ServerResponse): void;
  /** Whether another caller waits for this slot (fair-queue.ts). */
  yields: () => boolean;
};

const STDERR_MAX_CHARACTERS = 4_000;
const TERMINATE_AFTER_MS = 2_000;
const KILL_AFTER_MS = 10_000;
/** How long a client may seem to read nothing: it first reads from buffers on the way. */
const READ_GRACE_MS = 5 * 60_000;
/** How long git may compute while others wait for its slot: it computes for a minute before it sends a large clone. */
const COMPUTE_GRACE_MS = 120_000;
/** How long the streams of a git process that has ended may stay open without a byte. */
const LEFT_OPEN_MS = 10_000;

/**
 * Runs one git process of a transfer in a slot of `queue` while `use` moves its bytes. When `use` has returned, this waits until git has
 * ended; when `use` throws, this ends git.
 * @param limits override the usual ones, for tests
 * @throws ServiceError `unavailable` when too many are running; whatever `use` throws, unless the client has disconnected
 */
export async function withTransfer(
  queue: FairQueue,
  path: string,
  args: readonly string[],
  options: SpawnOptions,
  use: (transfer: Transfer) => Promise<void>,
  { leftOpenMs = LEFT_OPEN_MS, computeGraceMs = COMPUTE_GRACE_MS } = {},
): Promise<void> {
  const release = await queue.take({ within: path });
  const child = await spawnGit(path, args, options).catch((error: unknown) => {
    release();
    throw error;
  });
  let stderr = "";
  let isClientGone = false;
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < STDERR_MAX_CHARACTERS) stderr += chunk.toString("utf8");
  });
  child.stdin.on("error", () => undefined);
  let failure: Error | undefined;
  const closed = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      failure = error;
      resolve();
    });
    child.once("close", () => resolve());
  });
  void closed.then(release);
  child.once("exit", () => closeSoon(child, leftOpenMs));
  const limit = setTimeout(() => end(child), TRANSFER_MAX_MS);
  const endWithClient = (res: ServerResponse) => {
    const gone = () => {
      if (res.writableFinished) return;
      isClientGone = true;
      end(child);
    };
    if (res.closed) gone();
    else res.once("close", gone);
    // A client that reads a clone byte by byte must not hold git and its slot for hours.
    const stopWatching = watchPace({
      bytes: () => res.socket?.bytesWritten ?? 0,
      isWaiting: () => res.writableNeedDrain,
      graceMs: READ_GRACE_MS,
      yields: release.yields,
      onTooSlow: () => res.destroy(),
    });
    // Nor must git hold the slot while it only computes, sends almost nothing, and others wait.
    const stopWatchingGit = watchPace({
      bytes: () => (child.stdout as Socket).bytesRead,
      // Paused output waits for the client or for its turn.
      isWaiting: () => !child.stdout.isPaused(),
      graceMs: Number.POSITIVE_INFINITY,
      wantedGraceMs: computeGraceMs,
      yields: release.yields,
      onTooSlow: () => res.destroy(),
    });
    void closed.then(stopWatching).then(stopWatchingGit);
  };
  try {
    await use({ child, closed, endWithClient, yields: release.yields });
    await closed;
    if (failure) throw failure;
  } catch (error) {
    end(child);
    await closed;
    if (!isClientGone) throw error;
  } finally {
    clearTimeout(limit);
    // Git's messages say more than its status; most are about what the client has sent.
    if (stderr && !isClientGone) log().info({ git: args[0], stderr: stderr.trim() }, "git printed errors");
  }
}

/** Lets git clean up, within a time limit. */
function end(child: GitProcess): void {
  closeInputs(child);
  // Its output is no longer read, and unread output keeps it from closing.
  child.stdout.resume();
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timers = [setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS).unref()];
  // A push ends by itself when its pack or its hook does, and deletes the received objects; a signal would leave them behind.
  if (channelOf(child)) timers.push(setTimeout(() => child.kill("SIGTERM"), TERMINATE_AFTER_MS).unref());
  else child.kill("SIGTERM");
  child.once("exit", () => timers.forEach(clearTimeout));
}

const channelOf = ({ stdio }: GitProcess) => (stdio as unknown as (Duplex | undefined)[])[3];

/** A hook that waits for an answer outlives its git, and keeps the channel open until our end of it is closed (hook-channel.ts). */
function closeInputs(child: GitProcess): void {
  child.stdin.destroy();
  channelOf(child)?.destroy();
}

/**
 * Node reports a process as closed when all of its streams are, and git may leave processes behind that keep them open. So the
 * streams are closed after git's exit, unless git's output still goes to a slow reader, whose pace is watched elsewhere.
 */
function closeSoon(child: GitProcess, leftOpenMs: number): void {
  closeInputs(child);
  const bytesRead = () => (child.stdout as Socket).bytesRead;
  let passed = bytesRead();
  const timer = setInterval(() => {
    if (bytesRead() === passed && child.stdout.readableLength === 0) for (const stream of child.stdio) stream?.destroy();
    passed = bytesRead();
  }, leftOpenMs);
  timer.unref();
  child.once("close", () => clearInterval(timer));
}
