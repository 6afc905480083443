import type { IncomingMessage } from "node:http";

/** Of all relays together, in one process: what arrives is held until it is on record. */
const HELD_MAX_BYTES = 128 * 1024 * 1024;
/** Of one person's: whoever sends slowly to a relay of their own keeps nobody else from theirs. */
const HELD_MAX_BYTES_PER_PERSON = HELD_MAX_BYTES / 4;
let held = 0;
const heldBy = new Map<string, number>();

function hold(person: string, bytes: number): void {
  held += bytes;
  const theirs = (heldBy.get(person) ?? 0) + bytes;
  if (theirs > 0) heldBy.set(person, theirs);
  else heldBy.delete(person);
}

export type ReadBody = { bytes: Buffer; release: () => void } | "too large" | "busy" | "gone";

/**
 * Reads a whole body, byte for byte as it was sent. `release` is to be called once it is not held any more.
 * @param person whose relay it is for
 */
export async function readBody(req: IncomingMessage, maxBytes: number, person: string): Promise<ReadBody> {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) return "too large";
  const pieces: Buffer[] = [];
  let size = 0;
  const release = () => {
    hold(person, -size);
    size = 0;
  };
  try {
    for await (const piece of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += piece.length;
      hold(person, piece.length);
      if (size > maxBytes || held > HELD_MAX_BYTES || (heldBy.get(person) ?? 0) > HELD_MAX_BYTES_PER_PERSON) {
        const why = size > maxBytes ? "too large" : "busy";
        release();
        return why;
      }
      pieces.push(piece);
    }
  } catch {
    release();
    return "gone";
  }
  return { bytes: Buffer.concat(pieces, size), release };
}
