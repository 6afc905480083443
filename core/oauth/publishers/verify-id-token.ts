import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from "jose";
import { IssuerUnusable } from "#core/accounts/publishers/issuer/fetch-json.ts";
import { issuerKeys } from "#core/accounts/publishers/issuer/issuer-keys.ts";
import { ID_TOKEN_ALGS, SKEW_SECONDS, type UnprovenIdToken } from "./id-token.ts";

export type Verified = { claims: JWTPayload } | { unproven: string; isIssuerDown?: true };

/**
 * Whether the issuer itself has signed a token, by the keys that it publishes (S98). Only for issuers that somebody here trusts.
 * @returns its claims, or why not, in a clause for whoever trusts the issuer
 */
export async function verifyIdToken({ text, issuer }: UnprovenIdToken & { issuer: string }): Promise<Verified> {
  try {
    return await verifyWith(text, issuer, {}).catch((error: unknown) => {
      // The issuer may have keys by now that were not there when it was asked last.
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      return verifyWith(text, issuer, { isKeyUnknown: true });
    });
  } catch (error) {
    if (error instanceof IssuerUnusable) return { unproven: error.message, isIssuerDown: true };
    if (error instanceof errors.JWKSNoMatchingKey) return { unproven: "the issuer has no key such as the token was signed with" };
    if (error instanceof errors.JOSEError || error instanceof TypeError || isKeyRefused(error)) {
      return { unproven: "the token's signature is not the issuer's" };
    }
    throw error;
  }
}

async function verifyWith(text: string, issuer: string, options: { isKeyUnknown?: boolean }): Promise<Verified> {
  const keys = createLocalJWKSet(await issuerKeys(issuer, options));
  const { payload } = await jwtVerify(text, keys, {
    issuer,
    algorithms: [...ID_TOKEN_ALGS],
    clockTolerance: SKEW_SECONDS,
    requiredClaims: ["exp", "iat", "aud"],
  });
  return { claims: payload };
}

/** WebCrypto's own complaint of a key that is none. */
const isKeyRefused = (error: unknown): boolean => error instanceof DOMException;
