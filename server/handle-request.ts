import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isDatabaseDown } from "#core/database-errors.ts";
import { isFromTrustedProxy, sentOnBehalfOf } from "#core/http/client-address.ts";
import { newId } from "#core/ids.ts";
import { log, requestContext } from "#core/log.ts";
import { isRelayPath } from "#core/relay/relay.ts";
import { isAppPath } from "#core/spaces/door/find-app.ts";
import { canonicalize, canonicalLocation } from "./canonicalize.ts";
import { whenClosed } from "./connections.ts";
import { type Door, dispatch, isApi, isProtocol } from "./dispatch.ts";
import { isDownload } from "./downloads.ts";
import { sendHealth, sendMetrics, sendReadiness } from "./health.ts";
import { logAccess, traceRequest } from "./log-access.ts";
import { paceRequest } from "./pace-request.ts";
import { protectResponse } from "./protect-response.ts";
import { parseTarget, type Target } from "./read-request.ts";
import { databaseAway, sendFailure } from "./send.ts";

/**
 * Node emits all requests that arrived with one read of a connection at once, which could starve other clients (S137). Ordinary
 * clients send one at a time.
 */
const AT_ONCE_MAX = 32;
const atOnce = new WeakMap<Socket, number>();

function isTooMuchAtOnce({ socket }: IncomingMessage, res: ServerResponse): boolean {
  if (socket.destroyed) return true;
  const count = (atOnce.get(socket) ?? 0) + 1;
  if (count > AT_ONCE_MAX) {
    socket.destroy();
    return true;
  }
  atOnce.set(socket, count);
  res.once("close", () => atOnce.set(socket, (atOnce.get(socket) ?? 1) - 1));
  return false;
}

export function handleRequest(next: Door, req: IncomingMessage, res: ServerResponse): void {
  if (isTooMuchAtOnce(req, res)) return;
  const requestId = acceptedId(req) ?? newId();
  res.setHeader("X-Request-Id", requestId);
  // A page may wait for many slots at once, and each wait listens for the end of the response.
  res.setMaxListeners(0);
  const target = parseTarget(req.url);
  const isForNext = sentOnBehalfOf(req) !== undefined;
  protectResponse(res, { isPage: target !== undefined && isPage(target), isForNext });
  // `canonicalize` replaces the request's own host.
  const location = target && isPage(target) ? canonicalLocation(req, target) : undefined;
  const span = traceRequest(req, target);
  const ip = canonicalize(req, requestId);
  const context = {
    requestId,
    ip,
    whenClosed: (listener: () => void) => whenClosed(res, listener),
    ...(target && { address: target.pathname + target.search }),
    ...chosenTheme(req),
    ...(span && { traceparent: span.traceparent }),
  };
  requestContext.run(context, () => {
    logAccess(req, res, { pathname: target?.pathname ?? "[invalid]", ip, span });
    answer(next, req, res, { target, location, ip, isForNext }).catch((error: unknown) => sendCrash(req, res, error));
  });
}

function chosenTheme({ headers }: IncomingMessage): { theme?: "light" | "dark" } {
  const [, theme] = /(?:^|;\s*)theme=(light|dark)\s*(?:;|$)/.exec(headers.cookie ?? "") ?? [];
  return theme === "light" || theme === "dark" ? { theme } : {};
}

async function answer(
  next: Door,
  req: IncomingMessage,
  res: ServerResponse,
  {
    target,
    location,
    ip,
    isForNext,
  }: { target: Target | undefined; location: string | undefined; ip: string | null; isForNext: boolean },
): Promise<void> {
  if (!target) {
    sendFailure(req, res, { status: 400, error: "invalid_request", description: "This URL is not valid" });
    return;
  }
  // Next sends the response as its own, and a browser would run it as a page of this service (S24).
  if (isForNext && !isPage(target)) {
    sendFailure(req, res, { status: 404, error: "not_found", description: "This is not a page" });
    return;
  }
  req.url = target.pathname + target.search;
  if (target.pathname === "/healthz") return sendHealth(res);
  if (target.pathname === "/readyz") return sendReadiness(res);
  if (target.pathname === "/metrics") return sendMetrics(req, res);
  if (location) {
    res.writeHead(307, { Location: location, "Cache-Control": "no-store" }).end();
    return;
  }
  const waits = paceRequest(req, res, target.pathname);
  const refusal = waits instanceof Promise ? await waits : waits;
  if (refusal) {
    res.setHeaders(new Map(Object.entries(refusal.headers)));
    return sendFailure(req, res, refusal);
  }
  if (res.closed) return; // the client did not want to wait
  await dispatch(next, req, res, { ...target, ip });
}

function sendCrash(req: IncomingMessage, res: ServerResponse, error: unknown): void {
  // The request was already answered, for example with 413.
  if (res.writableEnded) return;
  if (isDatabaseDown(error)) {
    log().warn({ err: error }, "the database is unavailable");
    sendFailure(req, res, databaseAway);
    return;
  }
  log().error({ err: error }, "a request failed");
  sendFailure(req, res, { status: 500, error: "server_error", description: "Something went wrong" });
}

const isPage = ({ pathname }: Target): boolean =>
  !isProtocol(pathname) &&
  !isApi(pathname) &&
  !isAppPath(pathname) &&
  !isRelayPath(pathname) &&
  !isDownload(pathname) &&
  !/^\/(_next\/|healthz$|readyz$|metrics$)/.test(pathname);

/** The ID ends up in logs, so only a trusted proxy may set it. */
function acceptedId(req: IncomingMessage): string | undefined {
  const given = req.headers["x-request-id"];
  return typeof given === "string" && /^[\w-]{8,64}$/.test(given) && isFromTrustedProxy(req) ? given : undefined;
}
