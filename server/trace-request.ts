import type { IncomingMessage } from "node:http";
import { isFromTrustedProxy } from "#core/http/client-address.ts";
import { traces } from "#core/operations/traces/start-traces.ts";
import type { RequestSpan } from "#core/operations/traces/traces.ts";
import { isTraceparent } from "#core/telemetry.ts";
import { withoutSecrets } from "./log-access.ts";
import type { Target } from "./parse-target.ts";
import { doorOf, QUIET } from "./request-door.ts";

/**
 * Begins the span of a request, if traces are recorded; the code that sees the end of the response ends it. Only a trusted proxy can make
 * it join a trace: anybody else could add to others' traces, or have theirs recorded at our expense. Call it before `canonicalize`.
 */
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
