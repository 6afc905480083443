import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { env } from "../../env.ts";
import { isForeignHeaderAllowed } from "../../http/foreign-response-headers.ts";
import { endToEnd } from "../../http/hop-by-hop.ts";

/**
 * A Space's pages are on this service's origin, so they run in a sandbox (docs/decisions/057-spaces.md). Only the service's own
 * pages may frame them.
 */
export const sandboxHeaders = {
  "Content-Security-Policy":
    "sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals allow-downloads; frame-ancestors 'self'",
  "X-Frame-Options": "SAMEORIGIN",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Permissions-Policy":
    "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), publickey-credentials-get=()",
  // A page in a sandbox has no origin, so all of its requests are cross-origin. There are no credentials to send.
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "*",
} as const;

export function preflightHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": String(headers["access-control-request-headers"] ?? "*"),
    "Access-Control-Max-Age": "600",
  };
}

/** The user's credentials for this service, and headers that only this service may set. */
const WITHHELD =
  /^(cookie2?|authorization|dpop|host|forwarded|x-forwarded-.*|x-real-ip|x-keyhook-.*|content-security-policy|expect)$/;

export function requestHeaders(
  headers: IncomingHttpHeaders,
  { base, ip, requestId }: { base: string; ip: string | null; requestId: string },
): OutgoingHttpHeaders {
  const { host, protocol } = new URL(env().ORIGIN);
  const passed = Object.entries(endToEnd(headers)).filter(([name, value]) => !WITHHELD.test(name) && !isOurs(name, value));
  return {
    ...Object.fromEntries(passed),
    host,
    ...(ip && { "x-forwarded-for": ip }),
    "x-forwarded-host": host,
    "x-forwarded-proto": protocol.slice(0, -1),
    // The visitor segment is left out, because it would give others access.
    "x-forwarded-prefix": /^.*\/app(?=\/)/.exec(base)?.[0] ?? base.replace(/\/$/, ""),
    "x-request-id": requestId,
  };
}

/** An app must not learn from which page of this service a visitor came. */
const isOurs = (name: string, value: unknown): boolean => name === "referer" && String(value).startsWith(env().ORIGIN);

export function answerHeaders(
  headers: IncomingHttpHeaders,
  { base, isOpen }: { base: string; isOpen: boolean },
): OutgoingHttpHeaders {
  const kept = Object.fromEntries(Object.entries(endToEnd(headers)).filter(([name]) => isForeignHeaderAllowed(name)));
  const { location, ...others } = kept;
  const theirs = headers["content-security-policy"];
  const own = sandboxHeaders["Content-Security-Policy"];
  return {
    ...others,
    ...sandboxHeaders,
    // Several policies apply together, so the app's policy can only restrict further.
    ...(typeof theirs === "string" && { "Content-Security-Policy": `${own}, ${theirs}` }),
    ...(typeof location === "string" && { location: withinApp(location, base) }),
    // A cache must not give a private response to anybody else.
    ...(!isOpen && { "cache-control": "private, no-store" }),
  };
}

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(?=\/|$)/i;

/** An app believes that it is at the root of its host. */
function withinApp(location: string, base: string): string {
  const { ORIGIN } = env();
  const local = location.startsWith(`${ORIGIN}/`) ? location.slice(ORIGIN.length) : location.replace(LOOPBACK, "") || "/";
  if (!local.startsWith("/") || local.startsWith("//")) return location;
  // An app may already have used SPACE_BASE_PATH, which lacks the visitor segment.
  const [root = ""] = /^.*\/app\//.exec(base) ?? [];
  if (!local.startsWith(root)) return base + local.slice(1);
  return local.startsWith(base) ? local : base + local.slice(root.length);
}
