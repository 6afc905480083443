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

/** Rejects requests that no route could handle (S51, S138). @throws ServiceError `invalid_request`, `payload_too_large` */
export const refuseBadInput: MiddlewareHandler = async (c, next) => {
  const query = c.req.url.split("?").slice(1).join("?");
  const problem = query && malformedParameters(query);
  if (problem) throw invalidRequest(`Invalid request: ${problem}.`);
  const limit = bodyLimitOf(matchedRoutes(c));
  await limitBody(c, limit).catch((error: unknown) => {
    // The rest of the body stays unread, so another request on this connection would fail.
    c.header("Connection", "close");
    throw error;
  });
  if (!limit.isStreamed) await refuseHeavyBody(c);
  await next();
};

const JSON_DEPTH_MAX = 100;
/** Enough for a thousand repositories with all their tags. */
const JSON_VALUES_MAX = 500_000;
/** The largest commit has this many fields. Distinct field names cost ten times as much as other values. */
const JSON_NAMES_MAX = 120_000;
/** Shorter bodies are parsed within a few milliseconds. */
const JSON_UNCHECKED_MAX_BYTES = 64 * 1024;

/** Every body that is not a form counts as JSON, because some routes ignore the Content-Type. */
async function refuseHeavyBody(c: Context): Promise<void> {
  const isLong = Number(c.req.header("Content-Length") ?? Number.POSITIVE_INFINITY) > JSON_UNCHECKED_MAX_BYTES;
  if (!isLong || !c.req.raw.body || isForm(c)) return;
  // Hono caches the body for the route.
  const json = Buffer.from(await c.req.arrayBuffer());
  const { names, values } = refuseHeavyJson(json);
  countWork(names / JSON_PER_MS.names + values / JSON_PER_MS.values + json.byteLength / JSON_PER_MS.bytes);
}

const JSON_PER_MS = { names: 1_000, values: 10_000, bytes: 200_000 };

const FORMS = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i;

export const isForm = (c: Context): boolean => FORMS.test(c.req.header("Content-Type") ?? "");

/** @throws ServiceError `invalid_request` if the JSON costs far more to parse than to send */
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
  // Node enforces the Content-Length, which a chunked body does not have.
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

/** Zod checks `max` only after all elements (S138). @throws ServiceError `code` for a longer list, from within the parser */
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
  isStreamed?: true;
  /** Whose token a large body requires. Without such a token, only a small body is read. */
  takesTokenOf?: "anybody" | "platform";
};

/** For a route that limits the body itself, while the body arrives. */
export const TRANSFER: BodyLimit = { maxBytes: Number.POSITIVE_INFINITY, isStreamed: true };

const SMALL: BodyLimit = { maxBytes: SMALL_BODY_BYTES };

const declared = new WeakMap<object, BodyLimit>();

/** This must be the first handler of the route (S138). */
export function takesBody(limit: BodyLimit): MiddlewareHandler {
  const declaration: MiddlewareHandler = (_, next) => next();
  declared.set(declaration, limit);
  return declaration;
}

/** The first match decides, not the path, because one path may match several routes. @param matched includes middleware */
export function bodyLimitOf(matched: readonly RouterRoute[]): BodyLimit {
  const handlers = matched.map(({ method, handler }) => ({ method, handler: findTargetHandler(handler) }));
  const first = handlers.find(({ method, handler }) => method !== METHOD_NAME_ALL || !isMiddleware(handler));
  return (first && declared.get(first.handler)) ?? SMALL;
}
