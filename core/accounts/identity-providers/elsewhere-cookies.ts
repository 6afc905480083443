import { oneTimeTokenSeconds } from "../one-time-tokens/one-time-token.ts";
import { type SiteSessionCookie, siteSessionCookie } from "../sessions/site-session-cookie.ts";

/**
 * The secret of a browser with a sign-in at a provider under way: only that browser can use the provider's response (login
 * CSRF, RFC 6749 §10.12).
 */
export function elsewhereCookie(): SiteSessionCookie {
  return cookie("elsewhere", oneTimeTokenSeconds["sign-in-elsewhere"]);
}

/** Contains the token of an identity that is not linked to any user yet. */
export function pendingIdentityCookie(): SiteSessionCookie {
  return cookie("pending-identity", oneTimeTokenSeconds["pending-identity"]);
}

/** Set up like the session's cookie (S111). `Lax`: the provider's redirect back to us is a navigation from another site. */
function cookie(name: string, maxAge: number): SiteSessionCookie {
  const session = siteSessionCookie();
  return { name: session.name.replace("session", name), options: { ...session.options, maxAge } };
}
