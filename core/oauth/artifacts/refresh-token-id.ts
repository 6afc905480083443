import { seal, unseal } from "#core/crypto/seal.ts";
import type { Payload } from "./artifact-store.ts";
import { findGrant } from "./grant-store.ts";
import { tokenPrefix } from "./token-prefix.ts";

/** `exp` is in seconds since 1970. `jkt` is the thumbprint of the DPoP key (RFC 9449 §5). */
type RefreshTokenData = { grantId: string; exp: number; jkt?: string };

const PURPOSE = "refresh token";
const KIND = "_refresh_";

/**
 * The value contains the Grant's ID, because a thief may displace the row (S47, S143). It cannot be guessed (RFC 6749 §10.10).
 */
export function newRefreshTokenId({ grantId, exp, jkt = "" }: RefreshTokenData): string {
  return tokenPrefix("RefreshToken") + Buffer.from(seal(PURPOSE, `${exp} ${grantId} ${jkt}`)).toString("base64url");
}

/** @returns undefined unless this SECRET_KEY encrypted the value. TOKEN_PREFIX may have changed since. */
export function readRefreshTokenId(id: string): RefreshTokenData | undefined {
  const text = id.slice(id.indexOf(KIND) + KIND.length);
  const sealed = Buffer.from(text, "base64url");
  // Another spelling of the same bytes was never issued.
  if (sealed.toString("base64url") !== text) return undefined;
  try {
    const [exp, grantId, jkt] = unseal(PURPOSE, sealed).split(" ");
    return { grantId: grantId as string, exp: Number(exp), ...(jkt && { jkt }) };
  } catch {
    return undefined;
  }
}

/** Returns the token as used, so that the engine revokes its Grant. */
export async function findForgottenRefreshToken(id: string): Promise<Payload | undefined> {
  const named = readRefreshTokenId(id);
  const grant = named && (await findGrant(named.grantId));
  if (!grant) return undefined;
  const { accountId, clientId } = grant;
  const { scope } = (grant.openid ?? {}) as { scope?: string };
  return { ...named, kind: "RefreshToken", jti: id, accountId, clientId, scope, consumed: named.exp };
}
