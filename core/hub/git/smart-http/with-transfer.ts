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
  closed: Promise<void>;
  endWithClient(res: ServerResponse): void;
  mustYield: () => boolean;
};

const STDERR_MAX_CHARACTERS = 4_000;
const TERMINATE_AFTER_MS = 2_000;
const KILL_AFTER_MS = 10_000;
/** This is long, because a client first reads what is buffered on the way. */
const READ_GRACE_MS = 5 * 60_000;
/** This is long, because git computes for a minute before the first bytes of a large clone. */
const COMPUTE_GRACE_MS = 120_000;
const LEFT_OPEN_MS = 10_000;

/** Waits until git has ended. Only tests pass the last argument. */
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
    // Otherwise a client that reads byte by byte would hold git and the slot for hours.
    const stopWatching = watchPace({
      bytes: () => res.socket?.bytesWritten ?? 0,
      isWaiting: () => res.writableNeedDrain,
      graceMs: READ_GRACE_MS,
      mustYield: release.mustYield,
      onTooSlow: () => res.destroy(),
    });
    // Git that only computes must not hold the slot while others wait.
    const stopWatchingGit = watchPace({
      bytes: () => (child.stdout as Socket).bytesRead,
      // Git's output is paused for the client, so git cannot write.
      isWaiting: () => !child.stdout.isPaused(),
      graceMs: Number.POSITIVE_INFINITY,
      contendedGraceMs: computeGraceMs,
      mustYield: release.mustYield,
      onTooSlow: () => res.destroy(),
    });
    void closed.then(stopWatching).then(stopWatchingGit);
  };
  try {
    await use({ child, closed, endWithClient, mustYield: release.mustYield });
    await closed;
    if (failure) throw failure;
  } catch (error) {
    end(child);
    await closed;
    if (!isClientGone) throw error;
  } finally {
    clearTimeout(limit);
    if (stderr && !isClientGone) log().info({ git: args[0], stderr: stderr.trim() }, "git printed errors");
  }
}

function end(child: GitProcess): void {
  closeInputs(child);
  child.stdout.resume();
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timers = [setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS).unref()];
  // A push ends by itself and deletes its objects. SIGKILL would leave them behind.
  if (channelOf(child)) timers.push(setTimeout(() => child.kill("SIGTERM"), TERMINATE_AFTER_MS).unref());
  else child.kill("SIGTERM");
  child.once("exit", () => timers.forEach(clearTimeout));
}

const channelOf = ({ stdio }: GitProcess) => (stdio as unknown as (Duplex | undefined)[])[3];

/** A waiting hook outlives git while this end of the channel is open. */
function closeInputs(child: GitProcess): void {
  child.stdin.destroy();
  channelOf(child)?.destroy();
}

/** Processes that git leaves behind keep its streams open, and Node would wait for these. */
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
