import type { IncomingMessage } from "node:http";
import { env } from "#core/env.ts";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Whether another site sent a form or an action to a page (S25, S108). Browsers report that in `Sec-Fetch-Site`, which no script can set.
 * Over plain http to a name other than localhost they do not; there `Origin` decides, and cookies are also SameSite=Lax.
 *
 * Our pages send no referrer (S23), and with that policy a plain form's `Origin` is "null" (Fetch, "append a request Origin header"), which
 * Next rejects. So if the request is known to be ours, `Origin` is set to its actual value.
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
