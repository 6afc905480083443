import type { IncomingMessage } from "node:http";
import { env } from "#core/env.ts";
import { normalPath } from "#core/http/normal-path.ts";

/** The path and query of a request line. */
export type Target = {
  /** Without percent-encoding of unreserved characters (core/http/normal-path.ts). */
  pathname: string;
  /** The path as it was sent, for doors that pass it on. */
  sentPath: string;
  search: string;
};

/**
 * Parses the target of a request line, in origin form or in the absolute form that proxies may send. Returns undefined for an invalid one:
 * another form, a path that is not UTF-8 when decoded, a NUL, a fragment, or a segment `.` or `..` (S51, S138). Clients resolve such
 * segments before they send a request. Next would resolve them too, and show a page that no door has checked.
 */
export function parseTarget(url: string | undefined): Target | undefined {
  if (!url) return undefined;
  const local = url.replace(/^https?:\/\/[^/?#]*/i, "").replace(/^(?=\?|$)/, "/");
  if (!local.startsWith("/") || /%00|\0|#/.test(local)) return undefined;
  const query = local.indexOf("?");
  const sentPath = query < 0 ? local : local.slice(0, query);
  const pathname = normalPath(sentPath);
  if (/\/\.{1,2}(\/|$)/.test(pathname)) return undefined;
  try {
    decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
  return { pathname, sentPath, search: query < 0 ? "" : local.slice(query) };
}

export function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  for (const pair of headers.cookie?.split(";") ?? []) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Whether another site sent a form or an action to a page (S25, S108). Browsers report that in `Sec-Fetch-Site`, which no script can set.
 * Over plain http they do so only for localhost; for other names `Origin` decides, and cookies are also SameSite=Lax.
 *
 * Our pages send no referrer (S23), and with that policy a plain form's `Origin` is "null" (Fetch, "append a request Origin header"), which
 * Next rejects. So if the request is accepted, ORIGIN replaces the "null".
 */
export function isCrossSite(req: IncomingMessage): boolean {
  if (SAFE_METHODS.has(req.method ?? "")) return false;
  const { ORIGIN } = env();
  const { origin } = req.headers;
  const site = req.headers["sec-fetch-site"];
  if (site !== undefined) {
    if (site !== "same-origin" && site !== "none") return true;
    if (origin === "null") req.headers.origin = ORIGIN;
    return false;
  }
  if (origin === undefined || origin === ORIGIN) return false;
  if (origin !== "null" || ORIGIN.startsWith("https:")) return true;
  req.headers.origin = ORIGIN;
  return false;
}
