import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose";
import { IssuerUnusable, issuerKeys } from "#core/accounts/publishers/issuer-keys.ts";
import { env } from "#core/env.ts";
import { ProtocolError } from "../protocol-request.ts";

export type UnprovenIdToken = { text: string; alg: unknown; issuer: string | undefined; claims: JWTPayload };

/** `none` proves nothing. With HS256, anybody could sign with the published key (S98, RFC 8725 §3.1). */
const ID_TOKEN_ALGS: readonly string[] = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
const SKEW_SECONDS = 60;
const AGE_MAX_SECONDS = 24 * 60 * 60;

/**
 * Limited by `iat`, because `exp` may be any number.
 * @param token must have no flaw (`flawOf`)
 * @returns Unix seconds
 */
export function tokenEndsAt({ claims }: UnprovenIdToken): number {
  return Math.min(Number(claims.exp), Number(claims.iat) + AGE_MAX_SECONDS) + SKEW_SECONDS;
}

export function decodeIdToken(text: string): UnprovenIdToken {
  try {
    const claims = decodeJwt(text);
    const { alg } = decodeProtectedHeader(text);
    return { text, alg, issuer: typeof claims.iss === "string" ? claims.iss : undefined, claims };
  } catch {
    throw new ProtocolError(400, "invalid_request", "subject_token is not a signed JWT");
  }
}

/**
 * The sender may see the flaw, because it depends only on the token and ORIGIN (S98).
 * @param now Unix seconds
 */
export function flawOf({ alg, issuer, claims }: UnprovenIdToken, now = Math.floor(Date.now() / 1000)): string | undefined {
  if (typeof alg !== "string" || !ID_TOKEN_ALGS.includes(alg)) {
    return `the token is signed with ${quoted(alg)}, which is not accepted; use ${ID_TOKEN_ALGS[0]} or ${ID_TOKEN_ALGS[6]}`;
  }
  if (issuer === undefined) return "the token has no iss";
  if (!isForUs(claims.aud)) return `the token's audience is ${quoted(claims.aud)}; it must be exactly ${env().ORIGIN}`;
  const { exp, nbf, iat } = claims as Record<string, unknown>;
  if (!isTime(exp) || !isTime(iat)) return "the token lacks exp or iat";
  if (exp <= now - SKEW_SECONDS) return "the token has expired; request a new one";
  if (iat > now + SKEW_SECONDS) return "the token's iat is in the future; check the clocks of the issuer and this service";
  if (iat < now - AGE_MAX_SECONDS) return "the token is older than a day; request a new one";
  if (nbf !== undefined && !(isTime(nbf) && nbf <= now + SKEW_SECONDS))
    return "the token's nbf is in the future; check the clocks of the issuer and this service";
  return undefined;
}

/** Every service in the audience could use the token at the others, so only one is accepted. */
function isForUs(audience: unknown): boolean {
  const { ORIGIN } = env();
  return audience === ORIGIN || (Array.isArray(audience) && audience.length === 1 && audience[0] === ORIGIN);
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

const QUOTED_MAX_CHARACTERS = 120;

export function quoted(value: unknown): string {
  const text = typeof value === "string" ? value : spelled(value);
  return text.length > QUOTED_MAX_CHARACTERS ? `${text.slice(0, QUOTED_MAX_CHARACTERS)}...` : text;
}

/** An array that is nested thousands deep can be parsed but not serialized. */
function spelled(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "nothing";
  } catch {
    return "a value that is nested too deeply";
  }
}

type Verified = { claims: JWTPayload } | { unproven: string; isIssuerDown?: true };

/**
 * Call this only for trusted issuers (S98).
 * @returns the claims, or the reason as a clause for users who trust the issuer
 */
export async function verifyIdToken({ text, issuer }: UnprovenIdToken & { issuer: string }): Promise<Verified> {
  try {
    return await verifyWith(text, issuer, {}).catch((error: unknown) => {
      // The issuer may have published new keys since they were last fetched.
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      return verifyWith(text, issuer, { isKeyUnknown: true });
    });
  } catch (error) {
    if (error instanceof IssuerUnusable) return { unproven: error.message, isIssuerDown: true };
    if (error instanceof errors.JWKSNoMatchingKey)
      return { unproven: "the issuer does not publish the key that signed the token" };
    if (error instanceof errors.JOSEError || error instanceof TypeError || isKeyRefused(error)) {
      return { unproven: "the token's signature is not valid" };
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

const isKeyRefused = (error: unknown): boolean => error instanceof DOMException;
