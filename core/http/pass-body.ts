import type { ClientRequest, IncomingMessage } from "node:http";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Node calls us for each piece of a chunked body, of which ten thousand fit into what it reads at once. So many cost no more than others. */
const PIECES_AT_ONCE = 256;
/** For each piece beyond; about ten times as long as it takes. */
const REST_MS = 0.02;
/** One after another: many bodies in tiny pieces take no more of the event loop than one does. */
let restsUntil = 0;

/**
 * Passes a body on that somebody else made. What has come in many pieces goes on in one, and tiny pieces take a tenth of the event loop at
 * most: otherwise one answer in pieces of one byte takes all of it (S132, S137).
 * @returns when all was passed on. Where that fails, both sides are destroyed.
 */
export async function passBody(from: IncomingMessage, to: Writable): Promise<void> {
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
      if (beyond <= 0) continue;
      const now = performance.now();
      restsUntil = Math.max(now, restsUntil) + beyond * REST_MS;
      await sleep(restsUntil - now);
    }
  }
  await pipeline(from, gathered, to).catch(() => {
    from.destroy();
    to.destroy();
  });
}

/** More than any program says before it answers. */
const EARLY_MAX = 16;

/** Ends a request that is answered by "not yet" (1xx) again and again: each counts as news, and so it would never end (S132). */
export function limitEarlyAnswers(request: ClientRequest): ClientRequest {
  let early = 0;
  return request.on("information", () => {
    early += 1;
    if (early > EARLY_MAX) request.destroy();
  });
}
