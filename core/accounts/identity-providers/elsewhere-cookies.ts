import { oneTimeTokenSeconds } from "../one-time-tokens/one-time-token.ts";
import { type SiteSessionCookie, siteSessionCookie } from "../sessions/site-session-cookie.ts";

/** The secret of a browser with a sign-in elsewhere under way: only in it can the provider's answer be used (login CSRF, RFC 6749 §10.12). */
export function elsewhereCookie(): SiteSessionCookie {
  return cookie("elsewhere", oneTimeTokenSeconds["sign-in-elsewhere"]);
}

/** Carries the token of an identity that nobody here is linked to yet. */
export function pendingIdentityCookie(): SiteSessionCookie {
  return cookie("pending-identity", oneTimeTokenSeconds["pending-identity"]);
}

/** Made as the session's is (S111). `Lax`: the provider's redirect back to us is a navigation from another site. */
function cookie(name: string, maxAge: number): SiteSessionCookie {
  const session = siteSessionCookie();
  return { name: session.name.replace("session", name), options: { ...session.options, maxAge } };
}
