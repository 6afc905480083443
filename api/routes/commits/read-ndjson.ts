import { ServiceError } from "#core/errors.ts";
import { BodyRoom } from "#core/fair-queue/body-budget.ts";
import { OPERATIONS_MAX } from "#core/hub/git/write/operation.ts";
import { refuseHeavyJson } from "../../refuse-bad-input.ts";

/** A file of 10 MiB as base64, with room for its name. */
const LINE_MAX_BYTES = 16 * 1024 * 1024;
/** The longest description of a commit, with each character as `\u1234`. The header arrives before the commit has a slot. */
const HEADER_MAX_BYTES = 512 * 1024;
/** A line is one operation, with fewer than ten values. */
const LINE_VALUES_MAX = 1_000;
/** Empty lines are allowed, but a body of nothing else costs far more to split than to send. */
const LINES_MAX = 2 * OPERATIONS_MAX;
/** A sender that is silent for longer has gone, whether or not its connection shows it. */
const SILENCE_MAX_MS = 60_000;
/** On average, so that a byte now and then cannot keep a slot from others (core/http/pace.ts). */
const BYTES_PER_SECOND = 1024;
const LINE_FEED = 0x0a;

export type Line = { value: unknown; number: number };

/**
 * The JSON values of a body with one per line, as they arrive. Empty lines are skipped. Only one line is kept at a time, and it counts as a
 * body that is kept whole (S137).
 * @throws ServiceError `invalid_request` with the line's number, also if the body ends too early or arrives too slowly;
 * `payload_too_large`; `unavailable` if the sender has too much under way
 */
export async function* readNdjson(body: ReadableStream<Uint8Array>, silenceMaxMs = SILENCE_MAX_MS): AsyncGenerator<Line> {
  const room = new BodyRoom();
  let parts: Uint8Array[] = [];
  let size = 0;
  let number = 0;
  let maxBytes = HEADER_MAX_BYTES;
  const add = (part: Uint8Array) => {
    size += part.byteLength;
    if (size > maxBytes) throw tooLong(number + 1, maxBytes);
    room.grow(size);
    parts.push(part);
  };
  const end = () => {
    if (++number > LINES_MAX) throw new ServiceError("payload_too_large", `Send at most ${LINES_MAX} lines.`);
    const line = parseLine(Buffer.concat(parts), number);
    parts = [];
    size = 0;
    if (line) maxBytes = LINE_MAX_BYTES;
    return line;
  };
  for await (const chunk of chunksOf(body, silenceMaxMs)) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      add(chunk.subarray(from, at));
      const line = end();
      if (line) yield line;
      from = at + 1;
    }
    add(chunk.subarray(from));
  }
  const last = end();
  if (last) yield last;
}

function parseLine(bytes: Buffer, number: number): Line | undefined {
  refuseHeavyJson(bytes, { what: `Line ${number}`, valuesMax: LINE_VALUES_MAX });
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.trim() === "" ? undefined : { value: JSON.parse(text), number };
  } catch {
    throw new ServiceError("invalid_request", `Line ${number} is not JSON.`);
  }
}

function tooLong(number: number, maxBytes: number): ServiceError {
  const what = maxBytes === HEADER_MAX_BYTES ? "The first line, the header," : `Line ${number}`;
  return new ServiceError("payload_too_large", `${what} is longer than ${maxBytes / 1024} KiB.`);
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
    // Not cancelled: that would close the connection before the sender has read the reason. The server decides how much of the rest is
    // read, and for how long, and ends the stream.
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
