import type { IncomingMessage, ServerResponse } from "node:http";
import { consumeThrottle, throttleKey } from "#core/accounts/throttle.ts";
import { isDatabaseDown } from "#core/database-errors.ts";
import { isServiceError } from "#core/errors.ts";
import { BodyBudget, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import type { Release } from "#core/fair-queue/fair-queue.ts";
import { newId } from "#core/ids.ts";
import { requestContext } from "#core/log.ts";
import { awaitAnswer, type HandlerAnswer } from "#core/relay/inbox/await-answer.ts";
import { findRelayByToken, takeRequest } from "#core/relay/inbox/take-request.ts";
import { parseRelayPath, RELAY_BODY_MAX_BYTES } from "#core/relay/relay.ts";
import { callerHeaders, handlerHeaders, relayHeaders } from "#core/relay/relay-headers.ts";
import type { Target } from "../read-request.ts";

/** The limit for one relay over all callers. This service's own deliveries do not pass here. */
const REQUESTS = { limit: 1_200, windowSeconds: 60 };

/** docs/decisions/063-the-relay.md describes this door. */
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
  { sentPath, search, ip }: Target & { ip: string | null },
): Promise<void> {
  // A service worker could stay and answer for this origin, and another script could become part of a page of this origin.
  if (!isForItself(req)) return refuse(req, res, notEmbeddable);
  const named = parseRelayPath(sentPath + search);
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
    // The request is recorded, so an error would only make the caller send it again.
    if (isDatabaseDown(error)) return undefined;
    throw error;
  });
  if (res.destroyed) return;
  if (!answer) return refuse(req, res, tooSlow);
  if (answer.kind === "failed") return refuse(req, res, { ...notThere, text: `There was no response: ${answer.reason}.` });
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
  // A caller that is still sending reads the response only afterwards.
  if (isUnread) setTimeout(() => req.complete || req.socket.destroy(), 5_000).unref();
}

/** False if a page embeds the response. Browsers set `Sec-Fetch-Dest`, and pages cannot change it (Fetch Metadata). */
function isForItself({ headers }: IncomingMessage): boolean {
  const destination = headers["sec-fetch-dest"];
  return (
    headers["service-worker"] === undefined &&
    (destination === undefined || destination === "document" || destination === "empty")
  );
}

/** The response does not show whether the token ever existed. */
const notThere: Refusal = { status: 404, error: "not_found", text: "There is no relay at this URL. It may have expired." };
const notEmbeddable: Refusal = { status: 403, error: "forbidden", text: "A relay's response cannot be embedded in a page." };
const tooLarge: Refusal = {
  status: 413,
  error: "payload_too_large",
  text: `A relay accepts at most ${RELAY_BODY_MAX_BYTES / 1024 ** 2} MiB per request.`,
};
const busy: Refusal = {
  status: 503,
  error: "unavailable",
  text: "Too many requests to relays are in progress; try again.",
  retryAfter: 5,
};
const full: Refusal = {
  status: 503,
  error: "inbox_full",
  text: "The inbox of this relay is full, because its listener is missing or too slow. Try again later.",
  retryAfter: 60,
};
const tooSlow: Refusal = {
  status: 504,
  error: "upstream_timeout",
  text: "The relay's listener did not respond in time. The request is stored and will be processed. Do not send it again.",
};

/** Anybody may send to a relay, so relays have another memory budget than the API. */
const budget = new BodyBudget({ bytes: 128 * 1024 * 1024 });

type ReadBody = { bytes: Buffer; release: () => void } | "too large" | "busy" | "gone";

/**
 * Call `release` when the body is no longer held.
 * @param person the owner of the relay, whose relays share a part of the memory
 */
export async function readBody(req: IncomingMessage, maxBytes: number, person: string): Promise<ReadBody> {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) return "too large";
  const chunks: Buffer[] = [];
  const held: Release[] = [];
  const release = () => {
    for (const releaseOne of held.splice(0)) releaseOne();
  };
  let size = 0;
  let heldBytes = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) {
        release();
        return "too large";
      }
      // Memory is taken in steps, so that many small chunks do not each change the count.
      const wanted = Math.ceil(size / SMALL_BODY_BYTES) * SMALL_BODY_BYTES;
      if (wanted > heldBytes) held.push(budget.take(wanted - heldBytes, { key: person, isAnonymous: false }));
      heldBytes = Math.max(heldBytes, wanted);
      chunks.push(chunk);
    }
  } catch (error) {
    release();
    return isServiceError(error) ? "busy" : "gone";
  }
  return { bytes: Buffer.concat(chunks, size), release };
}
