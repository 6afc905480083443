import { z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { METHOD_NAME_ALL } from "hono/router";
import type { RouterRoute } from "hono/types";
import { findTargetHandler, isMiddleware } from "hono/utils/handler";
import { type ErrorCode, invalidRequest, ServiceError } from "#core/errors.ts";
import { BodyRoom, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import { countWork } from "#core/fair-queue/party.ts";
import { malformedParameters } from "#core/http/malformed-parameters.ts";
import { requireToken } from "./actor.ts";
import { requirePlatform } from "./require-platform.ts";

/**
 * Rejects, before any route, requests that no route could handle (S51, S138): a malformed query, and a body larger than the route accepts,
 * whether or not it has a `Content-Length`.
 * @throws ServiceError `invalid_request`, `payload_too_large`
 */
export const refuseBadInput: MiddlewareHandler = async (c, next) => {
  const query = c.req.url.split("?").slice(1).join("?");
  const problem = query && malformedParameters(query);
  if (problem) throw invalidRequest(`Invalid request: ${problem}.`);
  const limit = bodyLimitOf(matchedRoutes(c));
  await limitBody(c, limit).catch((error: unknown) => {
    // The rest of the body is not read, so another request on this connection would fail.
    c.header("Connection", "close");
    throw error;
  });
  if (!limit.isStreamed) await refuseHeavyBody(c);
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
  if (!isLong || !c.req.raw.body || isForm(c)) return;
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
 * @returns the number of field names and of values in the JSON, unless it has at most `uncheckedBytes`
 * @throws ServiceError `invalid_request` if it costs far more to parse than to send
 */
export function refuseHeavyJson(
  json: Buffer,
  { what = "The body", valuesMax = JSON_VALUES_MAX, uncheckedBytes = JSON_UNCHECKED_MAX_BYTES } = {},
): { names: number; values: number } {
  let depth = 0;
  let values = 1;
  let names = 0;
  if (json.byteLength <= uncheckedBytes) return { names, values };
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
    if (names > JSON_NAMES_MAX) throw invalidRequest(`${what} has more than ${JSON_NAMES_MAX.toLocaleString("en")} fields.`);
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
  if (maxBytes === Number.POSITIVE_INFINITY) return;
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

export type BodyLimit = {
  maxBytes: number;
  /** Whether the route reads the body piece by piece. All other routes get it as a whole. */
  isStreamed?: true;
  /** Whose token the route accepts. Without a token, no body larger than a few fields is read. */
  takesTokenOf?: "anybody" | "platform";
};

/** The body of a transfer: its route limits it itself, as it arrives. */
export const TRANSFER: BodyLimit = { maxBytes: Number.POSITIVE_INFINITY, isStreamed: true };

/** For routes that declare nothing. */
const SMALL: BodyLimit = { maxBytes: SMALL_BODY_BYTES };

const declared = new WeakMap<object, BodyLimit>();

/** Declares the largest body of a route, as the first of its handlers (S138). */
export function takesBody(limit: BodyLimit): MiddlewareHandler {
  const declaration: MiddlewareHandler = (_, next) => next();
  declared.set(declaration, limit);
  return declaration;
}

/**
 * The limit of the route that answers a request: the first that matches, because no route passes a request on. A path must not decide here:
 * one path may match several routes.
 * @param matched everything that matches, with middleware
 */
export function bodyLimitOf(matched: readonly RouterRoute[]): BodyLimit {
  const handlers = matched.map(({ method, handler }) => ({ method, handler: findTargetHandler(handler) }));
  const first = handlers.find(({ method, handler }) => method !== METHOD_NAME_ALL || !isMiddleware(handler));
  return (first && declared.get(first.handler)) ?? SMALL;
}
