import { createHash, createHmac } from "node:crypto";

/**
 * The secrets of a sign-in at a provider: `state` is in URLs and logs, `browser` only in a cookie. The nonce and the PKCE
 * verifier are derived from both, so neither is stored: a stolen response is useless in another browser, and so is read access
 * to the database.
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
