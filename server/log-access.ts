import type { IncomingMessage, ServerResponse } from "node:http";
import { isFromTrustedProxy } from "#core/http/client-address.ts";
import { log, requestContext } from "#core/log.ts";
import { traces } from "#core/operations/traces/start-traces.ts";
import type { RequestSpan } from "#core/operations/traces/traces.ts";
import { isTraceparent, requestsSeen } from "#core/telemetry.ts";
import type { Target } from "./read-request.ts";
import { doorOf, QUIET } from "./request-door.ts";

/** The query is not logged. Next's files and health probes are logged only when debugging. */
export function logAccess(
  req: IncomingMessage,
  res: ServerResponse,
  { pathname, ip, span }: { pathname: string; ip: string | null; span?: RequestSpan | undefined },
): void {
  const startedAt = performance.now();
  const requestId = requestContext.getStore()?.requestId; // `close` is emitted outside the request's context
  res.once("close", () => {
    const line = {
      requestId,
      method: req.method,
      path: withoutSecrets(pathname),
      status: res.statusCode,
      milliseconds: Math.round(performance.now() - startedAt),
      ip,
      ...(res.writableFinished ? {} : { isAborted: true }),
    };
    span?.end(res.statusCode);
    if (requestsSeen.hasSubscribers) {
      const { method = "", milliseconds, status } = line;
      requestsSeen.publish({ method, door: doorOf(pathname), status, milliseconds, isAborted: !res.writableFinished });
    }
    if (pathname.startsWith("/_next/") || QUIET.has(pathname)) log().debug(line, "request");
    else log().info(line, "request");
  });
}

// Longer parts of a path are not logged, because links in emails have their token in the path (S55).
const LONGEST_NAME = 40;

export function withoutSecrets(pathname: string): string {
  return pathname
    .split("/")
    .map((part) => (part.length > LONGEST_NAME ? "[redacted]" : part))
    .join("/");
}

/** Call this before `canonicalize`. Only a trusted proxy can make the span join a trace. */
export function traceRequest(req: IncomingMessage, target: Target | undefined): RequestSpan | undefined {
  const tracing = traces();
  if (!tracing || !target || QUIET.has(target.pathname)) return undefined;
  const door = doorOf(target.pathname);
  if (door === "asset") return undefined;
  const { method = "GET" } = req;
  const isPush = method === "POST" && /\/git-receive-pack$/.test(target.pathname);
  const given = req.headers.traceparent;
  const parent = isTraceparent(given) && isFromTrustedProxy(req) ? given : null;
  const attributes = { "http.request.method": method, "url.path": withoutSecrets(target.pathname) };
  return tracing.beginRequest(isPush ? "receive push" : `${method} ${door}`, attributes, parent);
}
