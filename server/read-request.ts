import type { IncomingMessage } from "node:http";
import { env } from "#core/env.ts";
import { normalPath } from "#core/http/normal-path.ts";

export type Target = {
  /** Unreserved characters are not percent-encoded. */
  pathname: string;
  sentPath: string;
  search: string;
};

/**
 * A segment `.` or `..` is invalid (S51, S138). Next would resolve the segment, and show a page that no door has checked.
 * @returns undefined for an invalid target
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
 * S25 and S108 require this. `Sec-Fetch-Site` exists only over https and for localhost. The service's pages send no referrer
 * (S23), so a plain form's `Origin` is "null". Next rejects "null", so ORIGIN replaces it.
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
