import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { answerBudget, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import type { Release } from "#core/fair-queue/fair-queue.ts";
import { type Watched, watchPace } from "#core/http/pace.ts";
import { requestContext } from "#core/log.ts";

/** Replaces Node's own limit, which applies to all requests or to none. */
const ARRIVAL_MS = 300_000;
/** A transfer may take any time, but must not stand still for longer than this. */
const TRANSFER_IDLE_MS = 120_000;
/** Bodies are kept in memory until they are complete, so they may fall behind 1 KiB a second only for this long. */
const PACE_GRACE_MS = 30_000;
/** The time is long, because a reader first reads what the kernel has buffered, which may take minutes. */
const READ_GRACE_MS = 5 * 60_000;
/** A chunk costs some hundred bytes of memory besides its content. */
const CHUNKS_MAX = 4_096;
const CHUNK_MEAN_MIN_BYTES = 64;

export type Limits = {
  /** `passed_on`: may take any time at a minimum pace. `transfer`: may take any time, but must not stand still. */
  body: "whole" | "passed_on" | "transfer";
  arrivalMs?: number;
  idleMs?: number;
  graceMs?: number;
  readGraceMs?: number;
  contendedGraceMs?: number;
};

/** A client that sends or reads a byte now and then must not hold a connection forever. */
export function limitTime(
  req: IncomingMessage,
  res: ServerResponse,
  {
    body,
    arrivalMs = ARRIVAL_MS,
    idleMs = TRANSFER_IDLE_MS,
    graceMs = PACE_GRACE_MS,
    readGraceMs = READ_GRACE_MS,
    ...pace
  }: Limits,
): void {
  limitReading(req, res, { ...pace, graceMs: readGraceMs });
  if (!hasBody(req)) return;
  limitChunks(req);
  const end = () => {
    if (!req.complete) req.destroy();
  };
  if (body === "transfer") {
    req.setTimeout(idleMs, end);
    // When the body has arrived, Node would close a socket that times out, even while the request is processed.
    req.once("end", () => req.setTimeout(0));
    return;
  }
  const timer = body === "whole" ? setTimeout(end, arrivalMs).unref() : undefined;
  const context = requestContext.getStore();
  const stopWatching = watchPace({
    bytes: () => req.socket.bytesRead,
    // Data that this service has not read yet is not the client's delay.
    isWaiting: () => !req.complete && req.readableLength < req.readableHighWaterMark,
    graceMs,
    onTooSlow: end,
    mustYield: () => context?.mustYield?.() ?? false,
    ...pace,
    checkEveryMs: Math.min(1_000, graceMs / 2),
  });
  res.once("close", () => {
    clearTimeout(timer);
    stopWatching();
  });
}

/**
 * Unread data stays in memory, and often holds a file, a process or a slot (S137). An event stream may be quiet, because time
 * without waiting data does not count.
 */
function limitReading(
  { socket }: IncomingMessage,
  res: ServerResponse,
  pace: Pick<Watched, "graceMs" | "contendedGraceMs">,
): void {
  const context = requestContext.getStore();
  let release: Release | undefined;
  let isTooMuch = false;
  const weigh = (bytes: number) => {
    release?.();
    [release, isTooMuch] = [undefined, false];
    if (bytes <= SMALL_BODY_BYTES) return;
    try {
      release = answerBudget.take(bytes);
    } catch {
      isTooMuch = true;
    }
  };
  const stopWatching = watchPace({
    bytes: () => sentBytes(socket),
    isWaiting: () => {
      weigh(res.writableLength);
      return res.writableLength > 0;
    },
    onTooSlow: () => socket.destroy(),
    mustYield: () => isTooMuch || (context?.mustYield?.() ?? false),
    checkEveryMs: Math.min(1_000, pace.graceMs / 2),
    ...pace,
  });
  res.once("close", () => {
    stopWatching();
    weigh(0);
  });
}

/** `bytesWritten` also counts what waits in the process. Only the socket's handle shows what the kernel has accepted. */
function sentBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten;
}

/** Storing or parsing has a cost for each chunk (S137). */
function limitChunks(req: IncomingMessage): void {
  let [chunks, bytes] = [0, 0];
  const { push } = req;
  req.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (req.destroyed) return false;
    if (chunk instanceof Uint8Array) {
      chunks += 1;
      bytes += chunk.length;
      if (chunks > CHUNKS_MAX && bytes < chunks * CHUNK_MEAN_MIN_BYTES) {
        req.destroy();
        return false;
      }
    }
    return push.call(req, chunk, encoding);
  };
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
