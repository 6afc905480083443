import type { IncomingMessage } from "node:http";
import { isServiceError } from "#core/errors.ts";
import { BodyBudget, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import type { Release } from "#core/fair-queue/fair-queue.ts";

/**
 * The memory of one process for bodies on their way to all relays, until they are stored. It is separate from the memory for the API's
 * bodies, because anybody may send to a relay.
 */
const budget = new BodyBudget({ bytes: 128 * 1024 * 1024 });

export type ReadBody = { bytes: Buffer; release: () => void } | "too large" | "busy" | "gone";

/**
 * Reads a whole body, byte for byte as it was sent. Call `release` once it is not held any more.
 * @param person whose relay it is for. A user's relays share a part of the memory: however many requests send slowly, some is left for
 * others
 */
export async function readBody(req: IncomingMessage, maxBytes: number, person: string): Promise<ReadBody> {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) return "too large";
  const pieces: Buffer[] = [];
  const held: Release[] = [];
  const release = () => {
    for (const giveBack of held.splice(0)) giveBack();
  };
  let size = 0;
  let heldBytes = 0;
  try {
    for await (const piece of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > maxBytes) {
        release();
        return "too large";
      }
      // In steps, so that many small pieces do not each change the count.
      const wanted = Math.ceil(size / SMALL_BODY_BYTES) * SMALL_BODY_BYTES;
      if (wanted > heldBytes) held.push(budget.take(wanted - heldBytes, { key: person, isAnonymous: false }));
      heldBytes = Math.max(heldBytes, wanted);
      pieces.push(piece);
    }
  } catch (error) {
    release();
    return isServiceError(error) ? "busy" : "gone";
  }
  return { bytes: Buffer.concat(pieces, size), release };
}
