import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { answerBudget, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import type { Release } from "#core/fair-queue/fair-queue.ts";
import { type Watched, watchPace } from "#core/http/pace.ts";
import { requestContext } from "#core/log.ts";

/** How long a request may take to arrive (Node's own limit, which it sets for all or none). */
export const ARRIVAL_MS = 300_000;
/** A transfer takes as long as it takes, but something of it has to arrive all the while. */
export const TRANSFER_IDLE_MS = 120_000;
/** How far whatever else is sent may fall behind 1 KiB a second: its body is kept in memory all the while. */
const PACE_GRACE_MS = 30_000;
/** How long a reader may take nothing at all. What the kernel has buffered is read first, which at 10 KiB/s takes minutes. */
const READ_GRACE_MS = 5 * 60_000;
/** A chunk costs some hundred bytes of memory beside its content: no honest client sends thousands that hold nearly nothing. */
const CHUNKS_MAX = 4_096;
const CHUNK_MEAN_MIN_BYTES = 64;

export type Limits = {
  /**
   * How the body is taken: kept whole until it is complete, passed on as it comes at whatever length (an app of a Space), or a transfer,
   * which has a pace of its own where that matters.
   */
  body: "whole" | "passed_on" | "transfer";
  arrivalMs?: number;
  idleMs?: number;
  graceMs?: number;
  readGraceMs?: number;
  wantedGraceMs?: number;
};

/**
 * Ends requests whose bodies do not arrive, and answers that are not read: whoever sends or reads a byte now and then cannot hold a
 * connection, and what belongs to it, for ever. Transfers are limited here by standing still only.
 */
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
    // A socket that times out after that is closed by Node, whatever is being done for it.
    req.once("end", () => req.setTimeout(0));
    return;
  }
  const timer = body === "whole" ? setTimeout(end, arrivalMs).unref() : undefined;
  const context = requestContext.getStore();
  const stopWatching = watchPace({
    bytes: () => req.socket.bytesRead,
    // What lies there unread is not the client's delay.
    isWaiting: () => !req.complete && req.readableLength < req.readableHighWaterMark,
    graceMs,
    onTooSlow: end,
    yields: () => context?.yields?.() ?? false,
    ...pace,
    checkEveryMs: Math.min(1_000, graceMs / 2),
  });
  res.once("close", () => {
    clearTimeout(timer);
    stopWatching();
  });
}

/**
 * Ends an answer that its client reads too slowly, whatever it is: all that was written of it stays in memory, often with a file, a
 * process or a place (S137). Only time in which something waits to be sent counts, so that an event stream may be quiet for as long as
 * it likes. Slow readers have a share of memory together, and whoever has more of it than others leave has to be quick.
 */
function limitReading({ socket }: IncomingMessage, res: ServerResponse, pace: Pick<Watched, "graceMs" | "wantedGraceMs">): void {
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
    yields: () => isTooMuch || (context?.yields?.() ?? false),
    checkEveryMs: Math.min(1_000, pace.graceMs / 2),
    ...pace,
  });
  res.once("close", () => {
    stopWatching();
    weigh(0);
  });
}

/**
 * How much the kernel has taken. `bytesWritten` counts what waits in the process too, so that it jumps by a whole answer. Node tells
 * slow sockets from dead ones by the same number (`Socket#_onTimeout`), which it has on its handle only.
 */
function sentBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten;
}

/** Ends requests whose bodies come in a great many tiny chunks, whoever reads them: what keeps or parses them pays for each (S137). */
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
