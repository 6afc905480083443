import { ServiceError } from "#core/errors.ts";

/** A file of 10 MiB as base64, with room for its name. */
const LINE_MAX_BYTES = 16 * 1024 * 1024;
/** A sender that is silent for longer has gone, whether or not its connection says so. */
const SILENCE_MAX_MS = 60_000;
/** On average, so that nobody keeps a place from others by a byte now and then (core/http/pace.ts). */
const BYTES_PER_SECOND = 1024;
const LINE_FEED = 0x0a;

export type Line = { value: unknown; number: number };

/**
 * The JSON values of a body that has one in each line, as they come; no more than one line is held. Empty lines are left out.
 * @throws ServiceError `invalid_request` with the line's number, also for a body that ends before its end or comes too slowly;
 * `payload_too_large`
 */
export async function* readNdjson(body: ReadableStream<Uint8Array>, silenceMaxMs = SILENCE_MAX_MS): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let number = 0;
  for await (const chunk of chunksOf(body, silenceMaxMs)) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      const line = parseLine([...parts, chunk.subarray(from, end)], ++number);
      if (line) yield line;
      parts = [];
      size = 0;
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
    size += chunk.byteLength - from;
    if (size > LINE_MAX_BYTES) {
      throw new ServiceError("payload_too_large", `Line ${number + 1} is longer than ${LINE_MAX_BYTES / 1024 / 1024} MiB.`);
    }
  }
  const last = parseLine(parts, ++number);
  if (last) yield last;
}

function parseLine(parts: readonly Uint8Array[], number: number): Line | undefined {
  const bytes = Buffer.concat(parts);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.trim() === "" ? undefined : { value: JSON.parse(text), number };
  } catch {
    throw new ServiceError("invalid_request", `Line ${number} is not JSON.`);
  }
}

async function* chunksOf(body: ReadableStream<Uint8Array>, silenceMaxMs: number): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let leftMs = silenceMaxMs;
  try {
    for (;;) {
      const askedAt = performance.now();
      const { done, value } = await readSoon(reader, leftMs);
      if (done) return;
      const earnedMs = (value.byteLength / BYTES_PER_SECOND) * 1_000;
      leftMs = Math.min(silenceMaxMs, leftMs - (performance.now() - askedAt) + earnedMs);
      yield value;
    }
  } finally {
    // Not cancelled: that would close the connection before the sender has read why it was refused. How much of the rest is taken, and
    // for how long, is the server's decision, which ends the stream.
    void discard(reader);
  }
}

async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection is gone.
  }
}

async function readSoon(reader: ReadableStreamDefaultReader<Uint8Array>, maxMs: number) {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const stopped = "The body stopped before its end, or came more slowly than 1 KiB a second. Send it again.";
    timer = setTimeout(() => reject(new ServiceError("invalid_request", stopped)), Math.max(maxMs, 0));
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError("invalid_request", "The body ended before its end.", { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
