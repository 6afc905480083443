import type { IncomingMessage, ServerResponse } from "node:http";
import { consumeThrottle, throttleKey } from "#core/accounts/throttle.ts";
import { isDatabaseDown } from "#core/db.ts";
import { isServiceError } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { requestContext } from "#core/log.ts";
import { callerHeaders, relayHeaders } from "#core/relay/door/answer-headers.ts";
import { handlerHeaders } from "#core/relay/door/request-headers.ts";
import { awaitAnswer, type HandlerAnswer } from "#core/relay/inbox/await-answer.ts";
import { findRelayByToken, takeRequest } from "#core/relay/inbox/take-request.ts";
import { RELAY_BODY_MAX_BYTES } from "#core/relay/relay.ts";
import { parseRelayPath } from "#core/relay/relay-target.ts";
import type { Target } from "../parse-target.ts";
import { readBody } from "./read-body.ts";

/** Limit for one relay, over all callers: far more than a receiver on a developer's machine gets. Our own deliveries do not pass here. */
const REQUESTS = { limit: 1_200, windowSeconds: 60 };

/** The public door of relays: `/relay/{token}/…`, any method (docs/decisions/063-the-relay.md). */
export async function serveRelay(
  req: IncomingMessage,
  res: ServerResponse,
  target: Target & { ip: string | null },
): Promise<void> {
  try {
    await serve(req, res, target);
  } catch (error) {
    if (isServiceError(error) && error.code === "rate_limited") {
      return refuse(req, res, {
        status: 429,
        error: "rate_limited",
        text: error.message,
        retryAfter: error.retryAfterSeconds ?? 60,
      });
    }
    if (!isDatabaseDown(error)) throw error;
    refuse(req, res, {
      status: 503,
      error: "unavailable",
      text: "The service cannot reach its database; try again.",
      retryAfter: 2,
    });
  }
}

async function serve(
  req: IncomingMessage,
  res: ServerResponse,
  { pathname, search, ip }: Target & { ip: string | null },
): Promise<void> {
  // A script that would stay and answer for our origin, or become part of one of our pages.
  if (!isForItself(req)) return refuse(req, res, onlyItself);
  const named = parseRelayPath(pathname + search);
  const relay = named && (await findRelayByToken(named.token));
  if (!named || !relay) return refuse(req, res, notThere);
  await consumeThrottle(throttleKey("relay", relay.id), REQUESTS);
  const body = await readBody(req, RELAY_BODY_MAX_BYTES, relay.userId);
  if (body === "too large") return refuse(req, res, tooLarge);
  if (body === "busy") return refuse(req, res, busy);
  if (body === "gone") return;
  const requestId = requestContext.getStore()?.requestId ?? newId();
  const headers = handlerHeaders(req.rawHeaders, { ip, requestId });
  let taken: Awaited<ReturnType<typeof takeRequest>>;
  try {
    taken = await takeRequest(relay.id, { method: req.method ?? "GET", path: named.path, headers, body: body.bytes });
  } finally {
    body.release();
  }
  if (!taken) return refuse(req, res, full);
  if (!taken.isListening) return kept(res);
  const leaving = new AbortController();
  res.once("close", () => leaving.abort());
  const answer = await awaitAnswer(taken.id, { signal: leaving.signal }).catch((error: unknown) => {
    // The request is recorded: requesting it once more would create a second one.
    if (isDatabaseDown(error)) return undefined;
    throw error;
  });
  if (res.destroyed) return;
  if (!answer) return refuse(req, res, tooSlow);
  if (answer.kind === "failed") return refuse(req, res, { ...notThere, text: `There was no answer: ${answer.reason}.` });
  send(req, res, answer);
}

function send(req: IncomingMessage, res: ServerResponse, { status, headers, body }: HandlerAnswer & { kind: "answered" }): void {
  const isFromBrowser = req.headers["sec-fetch-mode"] !== undefined || /text\/html/i.test(req.headers.accept ?? "");
  const isEmpty = status === 204 || status === 205 || status === 304;
  const pairs = callerHeaders(headers, { isFromBrowser });
  if (!isEmpty && req.method !== "HEAD") pairs.push(["Content-Length", String(body.length)]);
  res.writeHead(status, pairs as never);
  res.end(isEmpty || req.method === "HEAD" ? undefined : body);
}

function kept(res: ServerResponse): void {
  res.writeHead(202, { ...relayHeaders, "Content-Type": "application/json; charset=utf-8" });
  res.end(JSON.stringify({ kept: true }));
}

type Refusal = { status: number; error: string; text: string; retryAfter?: number };

function refuse(req: IncomingMessage, res: ServerResponse, { status, error, text, retryAfter }: Refusal): void {
  if (res.headersSent) return void res.destroy();
  const isUnread = !req.complete;
  if (isUnread) req.resume();
  res.writeHead(status, {
    ...relayHeaders,
    "Content-Type": "application/json; charset=utf-8",
    ...(retryAfter !== undefined && { "Retry-After": String(retryAfter) }),
  });
  res.end(JSON.stringify({ error, error_description: text }));
  // A caller that is still sending reads the response only afterwards; but it does not get forever.
  if (isUnread) setTimeout(() => req.complete || req.socket.destroy(), 5_000).unref();
}

/**
 * Whether it is not for a script, a style, a worker or a frame of some page: `Sec-Fetch-Dest` is set by the browser itself (Fetch
 * Metadata).
 */
function isForItself({ headers }: IncomingMessage): boolean {
  const destination = headers["sec-fetch-dest"];
  return (
    headers["service-worker"] === undefined &&
    (destination === undefined || destination === "document" || destination === "empty")
  );
}

/** The same response for a token that never existed, has ended, or whose user was disabled. */
const notThere: Refusal = { status: 404, error: "not_found", text: "There is no relay at this address. It may have expired." };
const onlyItself: Refusal = { status: 403, error: "forbidden", text: "What a relay answers cannot be a part of a page." };
const tooLarge: Refusal = {
  status: 413,
  error: "payload_too_large",
  text: `A relay takes at most ${RELAY_BODY_MAX_BYTES / 1024 ** 2} MiB at once.`,
};
const busy: Refusal = {
  status: 503,
  error: "unavailable",
  text: "Too much is being sent to relays at once; try again.",
  retryAfter: 5,
};
const full: Refusal = {
  status: 503,
  error: "inbox_full",
  text: "Nobody listens to this relay, or not fast enough, and the inbox is full. Try again later.",
  retryAfter: 60,
};
const tooSlow: Refusal = {
  status: 504,
  error: "upstream_timeout",
  text: "The handler did not answer in time. The request is kept, and will be answered by it: do not send it again.",
};
