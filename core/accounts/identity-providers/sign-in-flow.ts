import { createHash, createHmac } from "node:crypto";
import { oneTimeTokenSeconds } from "../one-time-token.ts";
import { type SiteSessionCookie, siteSessionCookie } from "../sessions/site-session-cookie.ts";

/**
 * `state` is in URLs and logs, `browser` only in a cookie. Nonce and PKCE verifier are derived from both, so neither the database
 * nor a stolen response is enough to complete a sign-in.
 */
export type Flow = { state: string; browser: string };

/** 43 characters, the minimum of RFC 7636 §4.1. */
export function codeVerifierOf(flow: Flow): string {
  return derive("code verifier", flow);
}

export function codeChallengeOf(flow: Flow): string {
  return createHash("sha256").update(codeVerifierOf(flow)).digest("base64url");
}

export function nonceOf(flow: Flow): string {
  return derive("nonce", flow);
}

function derive(purpose: string, { state, browser }: Flow): string {
  return createHmac("sha256", browser).update(`${purpose}\n${state}`).digest("base64url");
}

/** Only the browser with this secret can use the provider's response (login CSRF, RFC 6749 §10.12). */
export function flowCookie(): SiteSessionCookie {
  return cookie("elsewhere", oneTimeTokenSeconds["sign-in-elsewhere"]);
}

export function pendingIdentityCookie(): SiteSessionCookie {
  return cookie("pending-identity", oneTimeTokenSeconds["pending-identity"]);
}

/** Like the session's cookie (S111). `Strict` would not work, because the provider's redirect comes from another site. */
function cookie(name: string, maxAge: number): SiteSessionCookie {
  const session = siteSessionCookie();
  return { name: session.name.replace("session", name), options: { ...session.options, maxAge } };
}
