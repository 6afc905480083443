import { seal, unseal } from "#core/crypto/seal.ts";
import type { Payload } from "./artifact-store.ts";
import { findGrant } from "./grant-store.ts";
import { tokenPrefix } from "./token-prefix.ts";

/** The data that a refresh token contains. `exp` is in seconds since 1970, `jkt` the thumbprint of its DPoP key (RFC 9449 §5). */
type RefreshTokenData = { grantId: string; exp: number; jkt?: string };

const PURPOSE = "refresh token";
/** The end of the prefix. */
const KIND = "_refresh_";

/**
 * Makes the value of a refresh token. It contains the ID of its Grant, encrypted, so that the reuse of a token is detected even when its
 * row is gone: a thief who refreshes in a loop displaces the rows of used tokens (S47, S143). The 12-byte nonce and the 16-byte tag cannot
 * be guessed (RFC 6749 §10.10). No value is accepted without a row.
 */
export function newRefreshTokenId({ grantId, exp, jkt = "" }: RefreshTokenData): string {
  return tokenPrefix("RefreshToken") + Buffer.from(seal(PURPOSE, `${exp} ${grantId} ${jkt}`)).toString("base64url");
}

/** @returns undefined unless it is a refresh token that was issued here, under this SECRET_KEY and any TOKEN_PREFIX */
export function readRefreshTokenId(id: string): RefreshTokenData | undefined {
  const text = id.slice(id.indexOf(KIND) + KIND.length);
  const sealed = Buffer.from(text, "base64url");
  // Another spelling of the same bytes is not a token that was issued.
  if (sealed.toString("base64url") !== text) return undefined;
  try {
    const [exp, grantId, jkt] = unseal(PURPOSE, sealed).split(" ");
    return { grantId: grantId as string, exp: Number(exp), ...(jkt && { jkt }) };
  } catch {
    return undefined;
  }
}

/**
 * The payload of a refresh token whose row is gone: it is marked as used, and belongs to the Grant that it names. So using or revoking the
 * token revokes the Grant.
 * @returns undefined if its Grant has ended, or it was not issued here
 */
export async function findForgottenRefreshToken(id: string): Promise<Payload | undefined> {
  const named = readRefreshTokenId(id);
  const grant = named && (await findGrant(named.grantId));
  if (!grant) return undefined;
  const { accountId, clientId } = grant;
  const { scope } = (grant.openid ?? {}) as { scope?: string };
  return { ...named, kind: "RefreshToken", jti: id, accountId, clientId, scope, consumed: named.exp };
}
