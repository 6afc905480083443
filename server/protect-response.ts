import { randomBytes } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { env } from "#core/env.ts";
import { requestContext } from "#core/log.ts";
import { RETRY_AFTER_SECONDS } from "./send.ts";

const HSTS_SECONDS = 365 * 24 * 60 * 60;

/**
 * Whether the response is HTML is known only when its head is written (S23).
 * @param isPage whether only this service's own pages are at the URL
 * @param isForNext whether Next requests it, which would follow a redirect to any host (S117)
 */
export function protectResponse(res: ServerResponse, { isPage, isForNext }: { isPage: boolean; isForNext: boolean }): void {
  const isSecure = env().ORIGIN.startsWith("https:");
  const writeHead = res.writeHead;
  res.writeHead = function (this: ServerResponse, status: number, ...rest: unknown[]): ServerResponse {
    const reason = typeof rest[0] === "string" ? rest.shift() : undefined;
    setAll(res, rest[0] as OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined);
    if (isForNext) res.removeHeader("Location");
    const type = String(res.getHeader("Content-Type") ?? "");
    // Next's router would take such a file for its own data, and load the scripts that it names (S24).
    if (!isPage && /^\s*text\/x-component/i.test(type)) res.setHeader("Content-Type", "application/octet-stream");
    res.setHeader("X-Content-Type-Options", "nosniff");
    if (isSecure) res.setHeader("Strict-Transport-Security", `max-age=${HSTS_SECONDS}`);
    if (/^text\/html\b/i.test(type)) {
      res.setHeader("Cache-Control", "no-store");
      res.setHeader("Referrer-Policy", "no-referrer");
      // The Space's page shows the app in a frame, so apps set this header themselves.
      if (!res.hasHeader("X-Frame-Options")) res.setHeader("X-Frame-Options", "DENY");
      if (!res.hasHeader("Content-Security-Policy")) res.setHeader("Content-Security-Policy", contentSecurityPolicy());
      const context = requestContext.getStore();
      if (status === 200 && context?.pageStatus) {
        const wait = context.pageRetryAfter ?? (context.pageStatus === 503 ? RETRY_AFTER_SECONDS : undefined);
        if (wait !== undefined) res.setHeader("Retry-After", wait);
        return Reflect.apply(writeHead, res, [context.pageStatus]) as ServerResponse;
      }
    }
    const failure = status === 500 ? requestContext.getStore()?.failure : undefined;
    if (failure?.status === 503) res.setHeader("Retry-After", RETRY_AFTER_SECONDS);
    if (failure) return Reflect.apply(writeHead, res, [failure.status]) as ServerResponse;
    return Reflect.apply(writeHead, res, reason === undefined ? [status] : [status, reason]) as ServerResponse;
  } as typeof res.writeHead;
}

/** Next reads the nonce from the request's header. */
export function allowPageScripts(req: IncomingMessage, res: ServerResponse): void {
  const nonce = randomBytes(16).toString("base64");
  const isDevelopment = env().NODE_ENV === "development";
  const policy = contentSecurityPolicy(`'self' 'nonce-${nonce}' 'strict-dynamic'${isDevelopment ? " 'unsafe-eval'" : ""}`);
  req.headers["content-security-policy"] = policy;
  res.setHeader("Content-Security-Policy", policy);
}

export function forbidPageScripts(res: ServerResponse): void {
  res.setHeader("Content-Security-Policy", contentSecurityPolicy("'none'"));
}

/** `form-action` is left out, because browsers apply it to redirects too, and a consent form ends with a redirect to another site. */
function contentSecurityPolicy(scripts = "'self'"): string {
  return [
    "default-src 'self'",
    `script-src ${scripts}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function setAll(res: ServerResponse, headers: OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined): void {
  if (!headers) return;
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
    return;
  }
  const pairs = Array.isArray(headers[0]) ? (headers as unknown as [string, string][]) : pairsOf(headers as string[]);
  const fresh = new Set<string>();
  for (const [name, value] of pairs) {
    // A name may occur twice in a list, like Set-Cookie. Values that were set before the list are replaced.
    if (fresh.has(name.toLowerCase())) res.appendHeader(name, value);
    else res.setHeader(name, value);
    fresh.add(name.toLowerCase());
  }
}

function pairsOf(flat: string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[index * 2] as string, flat[index * 2 + 1] as string]);
}
