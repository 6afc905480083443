import type { IncomingMessage, ServerResponse } from "node:http";
import { log, requestContext } from "#core/log.ts";

/** One line for each request, without its query. Files that never change are only of interest when debugging. */
export function logAccess(
  req: IncomingMessage,
  res: ServerResponse,
  { pathname, ip }: { pathname: string; ip: string | null },
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
    if (pathname.startsWith("/_next/") || pathname === "/healthz" || pathname === "/readyz") log().debug(line, "request");
    else log().info(line, "request");
  });
}

// Links sent by mail carry their token as a part of the path (S55): anything as long as a token is taken for one.
const LONGEST_NAME = 40;

export function withoutSecrets(pathname: string): string {
  return pathname
    .split("/")
    .map((part) => (part.length > LONGEST_NAME ? "[redacted]" : part))
    .join("/");
}
