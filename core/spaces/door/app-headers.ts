import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { env } from "../../env.ts";
import { mayForeignAnswerHave } from "../../http/foreign-answer-headers.ts";
import { endToEnd } from "../../http/hop-by-hop.ts";

/**
 * What every answer below an app's address says of itself, whoever made it. A Space's pages are somebody's own, and are on our
 * origin: they run in a sandbox, as if they had an origin of their own, so that no script in them reads what is ours, with no cookie
 * and no storage (docs/decisions/057-spaces.md). They may be framed by our pages only. Of an app's own headers only those pass that
 * concern this one answer (core/http/foreign-answer-headers.ts).
 */
export const sandboxHeaders = {
  "Content-Security-Policy":
    "sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals allow-downloads; frame-ancestors 'self'",
  "X-Frame-Options": "SAMEORIGIN",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Permissions-Policy":
    "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), publickey-credentials-get=()",
  // Without an origin, whatever a page asks of its own Space is asked from elsewhere. There is no credential to lend.
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "*",
} as const;

/** What answers a browser that asks whether it may ask. */
export function preflightHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": String(headers["access-control-request-headers"] ?? "*"),
    "Access-Control-Max-Age": "600",
  };
}

/** Never passed on: who somebody is to us, and what only we may say of a request. */
const WITHHELD =
  /^(cookie2?|authorization|dpop|host|forwarded|x-forwarded-.*|x-real-ip|x-keyhook-.*|content-security-policy|expect)$/;

/**
 * What an app is told of a request: its headers without our cookies and tokens, and where it came from.
 * @param base what comes before the app's own paths
 */
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
    // Without what let the visitor in: that would tell the app who it is, and let others in by the same address.
    "x-forwarded-prefix": /^.*\/app(?=\/)/.exec(base)?.[0] ?? base.replace(/\/$/, ""),
    "x-request-id": requestId,
  };
}

/** Where somebody came from on our own pages is not for an app to know. */
const isOurs = (name: string, value: unknown): boolean => name === "referer" && String(value).startsWith(env().ORIGIN);

/** What of an app's answer is passed back. */
export function answerHeaders(
  headers: IncomingHttpHeaders,
  { base, isOpen }: { base: string; isOpen: boolean },
): OutgoingHttpHeaders {
  const kept = Object.fromEntries(Object.entries(endToEnd(headers)).filter(([name]) => mayForeignAnswerHave(name)));
  const { location, ...others } = kept;
  const theirs = headers["content-security-policy"];
  const own = sandboxHeaders["Content-Security-Policy"];
  return {
    ...others,
    ...sandboxHeaders,
    // Several policies hold together: theirs can only take more away.
    ...(typeof theirs === "string" && { "Content-Security-Policy": `${own}, ${theirs}` }),
    ...(typeof location === "string" && { location: withinApp(location, base) }),
    // What not everybody may see stays with who has asked for it.
    ...(!isOpen && { "cache-control": "private, no-store" }),
  };
}

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(?=\/|$)/i;

/** An app believes that it is at the root of its host: where it sends a browser there, it is sent below its base. */
function withinApp(location: string, base: string): string {
  const { ORIGIN } = env();
  const local = location.startsWith(`${ORIGIN}/`) ? location.slice(ORIGIN.length) : location.replace(LOOPBACK, "") || "/";
  if (!local.startsWith("/") || local.startsWith("//")) return location;
  // What it makes of SPACE_BASE_PATH is where it should be, but for what let the visitor in.
  const [root = ""] = /^.*\/app\//.exec(base) ?? [];
  if (!local.startsWith(root)) return base + local.slice(1);
  return local.startsWith(base) ? local : base + local.slice(root.length);
}
