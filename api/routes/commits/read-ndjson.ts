import { invalidRequest, ServiceError } from "#core/errors.ts";
import { BodyRoom } from "#core/fair-queue/body-budget.ts";
import { type Watched, watchPace } from "#core/http/pace.ts";
import { OPERATIONS_MAX } from "#core/hub/git/write/collect-changes.ts";
import { requestContext } from "#core/log.ts";
import { refuseHeavyJson } from "../../refuse-bad-input.ts";

/** A file of 10 MiB as base64, with room for the name. */
const LINE_MAX_BYTES = 16 * 1024 * 1024;
/** The longest description, with each character as `\u1234`. The header arrives before the commit has a slot. */
const HEADER_MAX_BYTES = 512 * 1024;
const LINE_VALUES_MAX = 1_000;
/** Empty lines count, because splitting them costs far more than sending them. */
const LINES_MAX = 2 * OPERATIONS_MAX;
const SILENCE_MAX_MS = 60_000;
/** How long a sender slower than 64 KiB per second may keep a slot for which others wait. */
const CONTENDED_GRACE_MS = 60_000;
const LINE_FEED = 0x0a;

export type Line = { value: unknown; number: number };

/**
 * Keeps only one line in memory, which counts like a body that is kept as a whole (S137).
 * @throws ServiceError `invalid_request`, for an invalid line with its number; `payload_too_large`; `unavailable` if the data is too slow
 * or the memory for all bodies is used up
 */
export async function* readNdjson(body: ReadableStream<Uint8Array>, pace: Partial<Watched> = {}): AsyncGenerator<Line> {
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
  for await (const chunk of chunksOf(body, pace)) {
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
    throw invalidRequest(`Line ${number} is not JSON.`);
  }
}

function tooLong(number: number, maxBytes: number): ServiceError {
  const what = maxBytes === HEADER_MAX_BYTES ? "The first line, the header," : `Line ${number}`;
  return new ServiceError("payload_too_large", `${what} is longer than ${maxBytes / 1024} KiB.`);
}

async function* chunksOf(body: ReadableStream<Uint8Array>, pace: Partial<Watched>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const request = requestContext.getStore();
  let received = 0;
  let isSlow = false;
  let giveUp: (() => void) | undefined;
  const stopWatching = watchPace({
    bytes: () => received,
    isWaiting: () => giveUp !== undefined,
    graceMs: SILENCE_MAX_MS,
    // `mustYield` is read at each check, because the commit gets its slot only after the first line.
    mustYield: () => request?.mustYield?.() ?? false,
    contendedGraceMs: CONTENDED_GRACE_MS,
    onTooSlow: () => {
      isSlow = true;
      giveUp?.();
    },
    ...pace,
  });
  try {
    for (;;) {
      // One promise for the whole body would keep all chunks in memory.
      const { promise: gaveUp, reject } = Promise.withResolvers<never>();
      giveUp = () => reject(tooSlow());
      if (isSlow) giveUp();
      const { done, value } = await Promise.race([gaveUp, readNext(reader)]);
      giveUp = undefined;
      if (done) return;
      received += value.byteLength;
      yield value;
    }
  } finally {
    stopWatching();
    // Cancelling the body would close the connection before the sender has read the reason.
    void discard(reader);
  }
}

const tooSlow = (): ServiceError =>
  new ServiceError(
    "unavailable",
    "The body arrived more slowly than 1 KiB per second (64 KiB per second while others wait). Send it again.",
    { retryAfterSeconds: 60 },
  );

async function readNext(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch (error) {
    throw new ServiceError("invalid_request", "The body was cut off.", { cause: error });
  }
}

async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection is gone.
  }
}
