import type { IncomingMessage } from "node:http";

/** Of all relays together, in one process: what arrives is held until it is on record. */
const HELD_MAX_BYTES = 128 * 1024 * 1024;
let held = 0;

export type ReadBody = { bytes: Buffer; release: () => void } | "too large" | "busy" | "gone";

/** Reads a whole body, byte for byte as it was sent. `release` is to be called once it is not held any more. */
export async function readBody(req: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) return "too large";
  const pieces: Buffer[] = [];
  let size = 0;
  const release = () => {
    held -= size;
    size = 0;
  };
  try {
    for await (const piece of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += piece.length;
      held += piece.length;
      if (size > maxBytes || held > HELD_MAX_BYTES) {
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
