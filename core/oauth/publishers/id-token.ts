import { decodeJwt, decodeProtectedHeader, type JWTPayload } from "jose";
import { env } from "#core/env.ts";
import { ProtocolError } from "../protocol-request.ts";

/** A job's ID token as it says of itself; nothing of it is proven yet. */
export type UnprovenIdToken = { text: string; alg: unknown; issuer: string | undefined; claims: JWTPayload };

/** With a key pair only: `none` proves nothing, and with HS256 whoever knows a public key could sign (S98, RFC 8725 §3.1). */
export const ID_TOKEN_ALGS: readonly string[] = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
export const SKEW_SECONDS = 60;
/** The longest that a job may run between being given its token and using it. */
const AGE_MAX_SECONDS = 24 * 60 * 60;

/**
 * From when on a token is refused anyway, in Unix seconds: what its issuer wrote into it may be any number.
 * @param token without a flaw
 */
export function overAt({ claims }: UnprovenIdToken): number {
  return Math.min(Number(claims.exp), Number(claims.iat) + AGE_MAX_SECONDS) + SKEW_SECONDS;
}

/** @throws ProtocolError `invalid_request` for what is no JWT */
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
 * What is wrong with a token whoever trusts its issuer: it goes by the token and by our own address alone, so that it may be told to
 * whoever sent it (S98). Undefined when nothing is.
 * @param now Unix seconds
 */
export function flawOf({ alg, issuer, claims }: UnprovenIdToken, now = Math.floor(Date.now() / 1000)): string | undefined {
  if (typeof alg !== "string" || !ID_TOKEN_ALGS.includes(alg)) {
    return `the token is signed with ${quoted(alg)}, which is not accepted; use ${ID_TOKEN_ALGS[0]} or ${ID_TOKEN_ALGS[6]}`;
  }
  if (issuer === undefined) return "the token has no iss";
  if (!isForUs(claims.aud)) return `the token is for the audience ${quoted(claims.aud)}; it has to be exactly ${env().ORIGIN}`;
  const { exp, nbf, iat } = claims as Record<string, unknown>;
  if (!isTime(exp) || !isTime(iat)) return "the token lacks exp or iat";
  if (exp <= now - SKEW_SECONDS) return "the token has expired; ask for a new one";
  if (iat > now + SKEW_SECONDS) return "the token's iat is in the future; set the clock";
  if (iat < now - AGE_MAX_SECONDS) return "the token is older than a day; ask for a new one";
  if (nbf !== undefined && !(isTime(nbf) && nbf <= now + SKEW_SECONDS)) return "the token's nbf is in the future; set the clock";
  return undefined;
}

/** Ours and nobody else's: a token for several audiences can be passed on by each of them to the others. */
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

/** Anybody writes what they like into a token: arrays in arrays, thousands deep, can be read and not written again. */
function spelled(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "nothing";
  } catch {
    return "something nested too deep";
  }
}
