import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { OutboundFailure, type OutboundRequest } from "./request.ts";

const decoders = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/**
 * Reads the body up to its limit, which counts decompressed bytes (S74, S120): inflating stops with the piece that exceeds it.
 * A body in several encodings, or in one that was not requested, stays as received.
 */
export async function readBody(
  incoming: Readable,
  headers: Record<string, string>,
  { maxBodyBytes, onExcess }: OutboundRequest,
): Promise<{ body: Uint8Array; isCut: boolean }> {
  const kept: Uint8Array[] = [];
  let length = 0;
  for await (const piece of decoded(incoming, headers)) {
    length += piece.length;
    if (length > maxBodyBytes && onExcess === "fail")
      throw OutboundFailure.unreachable(`the answer is longer than ${maxBodyBytes} bytes`);
    kept.push(piece);
    if (length > maxBodyBytes) break;
  }
  return { body: Buffer.concat(kept).subarray(0, maxBodyBytes), isCut: length > maxBodyBytes };
}

/** The incoming body, decompressed if necessary. */
export function decoded(incoming: Readable, headers: Record<string, string>): Readable {
  const decoder = decoders.get(headers["content-encoding"]?.trim().toLowerCase() ?? "")?.();
  if (!decoder) return incoming;
  incoming.on("error", (error) => decoder.destroy(error)).pipe(decoder);
  return decoder;
}
