import { RefusedError } from "./incoming-request.ts";

/**
 * Reads what comes piece by piece, and stops at the limit: a length that a header promises is anybody's word, and a chunked body has none.
 * One that drips is given up after a while (slow loris).
 * @throws RefusedError 413, 408
 */
export async function readBody(
  source: AsyncIterable<Uint8Array>,
  { maxBytes, timeoutMs, promised }: { maxBytes: number; timeoutMs: number; promised: string | undefined },
): Promise<Uint8Array> {
  if (Number(promised) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const iterator = source[Symbol.asyncIterator]();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), timeoutMs);
  });
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), late]);
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(value);
    }
  } finally {
    clearTimeout(timer);
  }
  if (chunks.length === 1) return chunks[0] as Uint8Array;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

export const tooSlow = () => new RefusedError(408, "The body took too long to arrive.", { connection: "close" });

export const tooLarge = (maxBytes: number) =>
  new RefusedError(413, `The body is larger than the ${maxBytes} bytes that this receiver takes (maxBodyBytes).`, {
    connection: "close",
  });
