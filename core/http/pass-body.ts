import type { ClientRequest, IncomingMessage } from "node:http";
import type { Duplex, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Node reads up to ten thousand pieces of a chunked body at once. */
const PIECES_AT_ONCE = 256;
const PAUSE_MS = 0.02;
/** Bodies take turns, so that many together take no more of the event loop than one. */
let pausedUntil = 0;

/**
 * A response in one-byte pieces would take all of the event loop (S132, S137).
 * @param pauseAfter returns the milliseconds to wait after some bytes
 */
export async function passBody(
  from: IncomingMessage,
  to: Writable,
  pauseAfter: (bytes: number) => number = () => 0,
): Promise<void> {
  let pieces = 0;
  const { push } = from;
  from.push = (chunk: unknown, encoding?: BufferEncoding) => {
    pieces += 1;
    return push.call(from, chunk, encoding);
  };
  async function* gathered(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const bytes of source) {
      const beyond = pieces - PIECES_AT_ONCE;
      pieces = 0;
      yield bytes;
      const pauseMs = pauseAfter(bytes.length);
      if (pauseMs > 0) await sleep(pauseMs);
      if (beyond <= 0) continue;
      const now = performance.now();
      pausedUntil = Math.max(now, pausedUntil) + beyond * PAUSE_MS;
      await sleep(pausedUntil - now);
    }
  }
  await pipeline(from, gathered, to).catch(() => {
    from.destroy();
    to.destroy();
  });
}

const INTERIM_MAX = 16;

/**
 * Interim responses are limited, because they count as activity, so the request would never time out (S132). Bytes that the
 * parser skips are limited too.
 */
export function limitResponse(request: ClientRequest): ClientRequest {
  let interim = 0;
  request.on("information", () => {
    interim += 1;
    if (interim > INTERIM_MAX) request.destroy();
  });
  return request.once("socket", (socket) => {
    const skipped = limitSkipped(socket, () => request.destroy());
    request.once("response", skipped.countBody).once("upgrade", skipped.stop).once("close", skipped.stop);
  });
}

/** The limit for head and framing. The body may take eight times its size, because a piece of one byte takes six bytes. */
const OWN_BYTES_MAX = 256 * 1024;

/** Node's parser skips any number of empty lines, of spaces and of zeros, which would take all of the event loop (S132). */
export function limitSkipped(socket: Duplex, end: () => void): { countBody(message: IncomingMessage): void; stop(): void } {
  let [arrived, body] = [0, 0];
  const count = (bytes: Buffer) => {
    arrived += bytes.length;
    if (arrived > OWN_BYTES_MAX + 8 * body) end();
  };
  socket.on("data", count);
  return {
    countBody(message) {
      const { push } = message;
      message.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
        body += chunk?.length ?? 0;
        return push.call(message, chunk, encoding);
      };
    },
    stop: () => void socket.off("data", count),
  };
}
