import { createHash, createHmac } from "node:crypto";

/**
 * What a sign-in elsewhere keeps to itself: `state` is in addresses and logs, `browser` only in a cookie. The nonce and the PKCE
 * verifier are made from both, so that neither is stored, and an answer that was stolen on its way is worth nothing in another
 * browser, nor to whoever reads the database.
 */
export type Flow = { state: string; browser: string };

/** 43 characters, the length that RFC 7636 §4.1 asks for at least. */
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
