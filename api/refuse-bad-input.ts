import type { Context, MiddlewareHandler } from "hono";
import { ServiceError } from "#core/errors.ts";
import { BodyRoom, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import { malformedParameters } from "#core/http/malformed-parameters.ts";
import { requireToken } from "./actor.ts";
import { type BodyLimit, bodyLimitOf } from "./body-limits.ts";
import { requirePlatform } from "./routes/platforms/require-platform.ts";

/**
 * Rejects, before any route, what no route could handle (S51, S138): a malformed query, and a body larger than the URL accepts, with or
 * without a length.
 * @throws ServiceError `invalid_request`, `payload_too_large`
 */
export const refuseBadInput: MiddlewareHandler = async (c, next) => {
  const query = c.req.url.split("?").slice(1).join("?");
  const problem = query && malformedParameters(query);
  if (problem) throw new ServiceError("invalid_request", `Not understood: ${problem}.`);
  await limitBody(c, bodyLimitOf(new URL(c.req.url).pathname)).catch((error: unknown) => {
    // The rest of the body is not read, so another request on this connection would fail.
    c.header("Connection", "close");
    throw error;
  });
  await refuseDeepJson(c);
  await next();
};

/** Deeper than any body of our clients. */
const JSON_DEPTH_MAX = 100;
/** Enough for more than a thousand repositories with all their tags, or the tokens of the longest conversation. */
const JSON_VALUES_MAX = 500_000;
/** Shorter bodies are parsed within a few milliseconds, whatever they contain. */
const JSON_LOOKED_INTO_BYTES = 64 * 1024;

/**
 * Parsing 16 MB of `[` takes two seconds of the event loop, and 16 MB of `{},` make five million objects. Checking its depth and number of
 * values takes a hundredth of that, and stops where it is too much. A body that is not a form counts as JSON: some routes read it whatever
 * its type, and none reads a form as JSON.
 */
async function refuseDeepJson(c: Context): Promise<void> {
  const isLong = Number(c.req.header("Content-Length") ?? Number.POSITIVE_INFINITY) > JSON_LOOKED_INTO_BYTES;
  const { maxBytes, isStreamed } = bodyLimitOf(new URL(c.req.url).pathname);
  if (!isLong || isStreamed || maxBytes === null || !c.req.raw.body || isForm(c)) return;
  // Hono caches it for whichever route reads it next.
  refuseHeavyJson(Buffer.from(await c.req.arrayBuffer()));
}

const FORMS = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i;

/** Whether a body is declared to be a form, exactly. */
export const isForm = (c: Context): boolean => FORMS.test(c.req.header("Content-Type") ?? "");

/** @throws ServiceError `invalid_request` if it costs far more to parse than to send */
export function refuseHeavyJson(json: Buffer, { what = "The body", valuesMax = JSON_VALUES_MAX } = {}): void {
  if (json.byteLength <= JSON_LOOKED_INTO_BYTES) return;
  let depth = 0;
  let values = 1;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at + 1);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      // A value too, although without a comma: a hundred nested lists are a hundred values.
      depth += 1;
      values += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    else if (byte === COMMA) values += 1;
    if (depth > JSON_DEPTH_MAX)
      throw new ServiceError("invalid_request", `${what} is nested deeper than ${JSON_DEPTH_MAX} levels.`);
    if (values > valuesMax) throw new ServiceError("invalid_request", `${what} has more than ${valuesMax} values.`);
  }
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, COMMA] = Buffer.from('"\\[]{},');

function endOfString(json: Buffer, from: number): number {
  for (let at = from; at < json.length; at++) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}

async function limitBody(c: Context, { maxBytes, isStreamed, takesTokenOf }: BodyLimit): Promise<void> {
  if (maxBytes === null) return;
  const length = c.req.header("Content-Length");
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const isChunked = length === undefined && c.req.header("Transfer-Encoding") !== undefined && c.req.raw.body !== null;
  if (!isStreamed && (isChunked || Number(length ?? 0) > SMALL_BODY_BYTES)) {
    if (takesTokenOf === "platform") await requirePlatform(c);
    else if (takesTokenOf === "anybody") await requireToken(c);
  }
  const room = new BodyRoom();
  // Node holds a body to its Content-Length; a chunked one has none.
  if (!isChunked) {
    if (!isStreamed) room.widen(Number(length ?? 0));
    return;
  }
  const counted = c.req.raw.body?.pipeThrough(countBytes(maxBytes, isStreamed ? undefined : room)) as ReadableStream<Uint8Array>;
  const body = isStreamed ? counted : await new Response(counted).arrayBuffer();
  // The types of `RequestInit` lack `duplex`.
  const init = { method: c.req.method, headers: c.req.raw.headers, body, signal: c.req.raw.signal, duplex: "half" };
  c.req.raw = new Request(c.req.url, init as RequestInit);
}

/** Lets bytes through as long as there are not too many. */
function countBytes(maxBytes: number, room: BodyRoom | undefined): TransformStream<Uint8Array, Uint8Array> {
  let received = 0;
  return new TransformStream({
    transform(chunk, controller) {
      received += chunk.byteLength;
      if (received > maxBytes) return controller.error(tooLarge(maxBytes));
      room?.grow(received);
      controller.enqueue(chunk);
    },
  });
}

function tooLarge(maxBytes: number): ServiceError {
  const size = maxBytes < 1024 * 1024 ? `${maxBytes / 1024} KiB` : `${maxBytes / 1024 / 1024} MiB`;
  return new ServiceError("payload_too_large", `The body is larger than ${size}.`);
}
