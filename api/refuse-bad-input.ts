import { z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { type ErrorCode, invalidRequest, ServiceError } from "#core/errors.ts";
import { BodyRoom, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import { countWork } from "#core/fair-queue/party.ts";
import { malformedParameters } from "#core/http/malformed-parameters.ts";
import { requireToken } from "./actor.ts";
import { requirePlatform } from "./require-platform.ts";

/**
 * Rejects, before any route, requests that no route could handle (S51, S138): a malformed query, and a body larger than the URL accepts,
 * whether or not it has a `Content-Length`.
 * @throws ServiceError `invalid_request`, `payload_too_large`
 */
export const refuseBadInput: MiddlewareHandler = async (c, next) => {
  const query = c.req.url.split("?").slice(1).join("?");
  const problem = query && malformedParameters(query);
  if (problem) throw invalidRequest(`Invalid request: ${problem}.`);
  await limitBody(c, bodyLimitOf(new URL(c.req.url).pathname)).catch((error: unknown) => {
    // The rest of the body is not read, so another request on this connection would fail.
    c.header("Connection", "close");
    throw error;
  });
  await refuseHeavyBody(c);
  await next();
};

/** Deeper than any body of our clients. */
const JSON_DEPTH_MAX = 100;
/** Enough for more than a thousand repositories with all their tags, or for the longest conversation as token IDs. */
const JSON_VALUES_MAX = 500_000;
/**
 * The fields of all objects together: as many as the largest commit has (25,000 files). Distinct fields take ten times as long as other
 * values.
 */
const JSON_NAMES_MAX = 120_000;
/** Shorter bodies are parsed within a few milliseconds, whatever they contain. */
const JSON_UNCHECKED_MAX_BYTES = 64 * 1024;

/**
 * Parsing 16 MB of `[` takes two seconds of the event loop, and 16 MB of `{},` make five million objects. Checking a body's depth and
 * number of values takes a hundredth of that, and stops at the limit. A body that is not declared as a form counts as JSON: some routes
 * parse JSON whatever its Content-Type, but none parses a form as JSON.
 */
async function refuseHeavyBody(c: Context): Promise<void> {
  const isLong = Number(c.req.header("Content-Length") ?? Number.POSITIVE_INFINITY) > JSON_UNCHECKED_MAX_BYTES;
  const { maxBytes, isStreamed } = bodyLimitOf(new URL(c.req.url).pathname);
  if (!isLong || isStreamed || maxBytes === null || !c.req.raw.body || isForm(c)) return;
  // Hono caches the body for the route that reads it next.
  const json = Buffer.from(await c.req.arrayBuffer());
  const { names, values } = refuseHeavyJson(json);
  countWork(names / JSON_PER_MS.names + values / JSON_PER_MS.values + json.byteLength / JSON_PER_MS.bytes);
}

/** Approximately how much of a body is parsed and checked in a millisecond. */
const JSON_PER_MS = { names: 1_000, values: 10_000, bytes: 200_000 };

const FORMS = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i;

/** Whether a body is declared as a form. */
export const isForm = (c: Context): boolean => FORMS.test(c.req.header("Content-Type") ?? "");

/**
 * @returns the number of field names and of values in the JSON. A body of up to 64 KiB is not counted.
 * @throws ServiceError `invalid_request` if it costs far more to parse than to send
 */
export function refuseHeavyJson(
  json: Buffer,
  { what = "The body", valuesMax = JSON_VALUES_MAX } = {},
): { names: number; values: number } {
  let depth = 0;
  let values = 1;
  let names = 0;
  if (json.byteLength <= JSON_UNCHECKED_MAX_BYTES) return { names, values };
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at + 1);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      // Lists and objects count as values too, although no comma follows: a hundred nested lists are a hundred values.
      depth += 1;
      values += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    else if (byte === COMMA) values += 1;
    else if (byte === COLON) names += 1;
    if (depth > JSON_DEPTH_MAX) throw invalidRequest(`${what} is nested deeper than ${JSON_DEPTH_MAX} levels.`);
    if (values > valuesMax) throw invalidRequest(`${what} has more than ${valuesMax} values.`);
    if (names > JSON_NAMES_MAX) throw invalidRequest(`${what} has more than ${JSON_NAMES_MAX} fields.`);
  }
  return { names, values };
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, COMMA, COLON] = Buffer.from('"\\[]{},:');

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
  // Node accepts no more than the Content-Length, which a chunked body does not have.
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

/** Passes bytes on until there are too many. */
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

/**
 * A list in a request, of at most `max`. Zod checks its own `max` only after validating all elements, and records an issue for each wrong
 * one. So a few megabytes of wrong elements would block the event loop for seconds (S138).
 * @throws ServiceError `code` if it is longer, from within the parser
 */
export function listOf<Item extends z.ZodType>(
  item: Item,
  { max, of, code = "payload_too_large" }: { max: number; of: string; code?: ErrorCode },
) {
  return z.preprocess((value) => {
    if (!Array.isArray(value) || value.length <= max) return value;
    throw new ServiceError(code, `Send at most ${max} ${of} at once.`);
  }, z.array(item).max(max));
}

const KIB = 1024;
const MIB = 1024 * KIB;

type BodyLimit = {
  /** Null if the route sets its own limit, which depends on the content. */
  maxBytes: number | null;
  /** Whether the route reads the body piece by piece. All other routes get it as a whole. */
  isStreamed?: true;
  /** Whose token the route accepts. Without a token, no body larger than a few fields is read. */
  takesTokenOf?: "anybody" | "platform";
};

const repo = /^\/api\/(models|datasets|spaces)\/[^/]+\/[^/]+/.source;
const transfer = /^\/((models|datasets|spaces)\/)?[^/]+\/[^/]+/.source;

/** The largest body by URL; the first match applies (S138). Git and Git LFS have their own settings. */
const limits: readonly [pattern: RegExp, limit: BodyLimit][] = [
  [new RegExp(`${transfer}/git-(upload|receive)-pack$`), { maxBytes: null }],
  [new RegExp(`${transfer}/info/lfs/objects/(batch|[^/]+/(verify|complete))$`), { maxBytes: MIB }],
  [new RegExp(`${transfer}/info/lfs/objects/[^/]+$`), { maxBytes: null }],
  [/^\/xet\/[^/]+\/(v1\/xorbs\/default\/[^/]+|v[12]\/shards)$/, { maxBytes: null }],
  // Contains files as base64. Large files are sent by Git LFS instead.
  [new RegExp(`${repo}/commit/.+$`), { maxBytes: 512 * MIB, isStreamed: true }],
  // The names of thousands of files, with a sample of each file.
  [new RegExp(`${repo}/preupload/.+$`), { maxBytes: 8 * MIB, takesTokenOf: "anybody" }],
  [new RegExp(`${repo}/paths-info/.+$`), { maxBytes: MIB, takesTokenOf: "anybody" }],
  // A thousand hashes with file names.
  [new RegExp(`${repo}/lfs-files/(batch|duplicate)$`), { maxBytes: MIB, takesTokenOf: "anybody" }],
  [new RegExp(`${repo}/discussions(/.*)?$`), { maxBytes: MIB, takesTokenOf: "anybody" }],
  [/^\/api\/validate-yaml$/, { maxBytes: 2 * MIB, takesTokenOf: "anybody" }],
  // The first files of a new repository.
  [/^\/api\/repos\/create$/, { maxBytes: 16 * MIB, takesTokenOf: "anybody" }],
  // A command with its environment and secrets.
  [/^\/api\/(scheduled-)?jobs\/[^/]+$/, { maxBytes: MIB, takesTokenOf: "anybody" }],
  // A response of up to 8 MiB, as base64.
  [/^\/api\/settings\/relays\/[^/]+\/requests\/[^/]+\/answer$/, { maxBytes: 12 * MIB, takesTokenOf: "anybody" }],
  // A conversation with pictures.
  [/^\/v1\//, { maxBytes: 16 * MIB, takesTokenOf: "anybody" }],
  [/^\/api\/(events|repos\/sync)$/, { maxBytes: 4 * MIB, takesTokenOf: "platform" }],
];

const others: BodyLimit = { maxBytes: 64 * KIB };

/** @param path of the request, as sent. */
export function bodyLimitOf(path: string): BodyLimit {
  return limits.find(([pattern]) => pattern.test(path))?.[1] ?? others;
}
