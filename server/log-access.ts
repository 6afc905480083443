import type { IncomingMessage, ServerResponse } from "node:http";
import { log, requestContext } from "#core/log.ts";
import type { RequestSpan } from "#core/operations/traces/traces.ts";
import { requestsSeen } from "#core/telemetry.ts";
import { doorOf, QUIET } from "./request-door.ts";

/** One line for each request, without its query. Immutable files are logged only when debugging. */
export function logAccess(
  req: IncomingMessage,
  res: ServerResponse,
  { pathname, ip, span }: { pathname: string; ip: string | null; span?: RequestSpan | undefined },
): void {
  const startedAt = performance.now();
  const requestId = requestContext.getStore()?.requestId;
  res.once("close", () => {
    const line = {
      requestId, // by then the request is over
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

// Links in mails have their token in the path (S55): any segment as long as a token is treated as one.
const LONGEST_NAME = 40;

export function withoutSecrets(pathname: string): string {
  return pathname
    .split("/")
    .map((part) => (part.length > LONGEST_NAME ? "[redacted]" : part))
    .join("/");
}
