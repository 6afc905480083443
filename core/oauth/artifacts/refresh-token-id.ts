import { seal, unseal } from "#core/crypto/seal.ts";
import type { Payload } from "./artifact-store.ts";
import { findGrant } from "./grant-store.ts";
import { tokenPrefix } from "./token-prefix.ts";

/** The data that a refresh token contains. `exp` is in seconds since 1970, `jkt` the thumbprint of its DPoP key (RFC 9449 §5). */
type Named = { grantId: string; exp: number; jkt?: string };

const PURPOSE = "refresh token";
/** The end of the prefix. */
const KIND = "_refresh_";

/**
 * Makes the value of a refresh token. It names its Grant, encrypted, so that a used token shows a theft even when its row is gone: a thief
 * who refreshes in a loop displaces the rows of used tokens (S47, S143). The 12-byte nonce and the 16-byte tag cannot be guessed (RFC 6749
 * §10.10). No value is accepted without a row.
 */
export function newRefreshTokenId({ grantId, exp, jkt = "" }: Named): string {
  return tokenPrefix("RefreshToken") + Buffer.from(seal(PURPOSE, `${exp} ${grantId} ${jkt}`)).toString("base64url");
}

/** @returns undefined for anything but a refresh token that was issued here, under this SECRET_KEY and any TOKEN_PREFIX */
export function readRefreshTokenId(id: string): Named | undefined {
  const text = id.slice(id.indexOf(KIND) + KIND.length);
  const sealed = Buffer.from(text, "base64url");
  // Another spelling of the same bytes is another token, which nobody issued.
  if (sealed.toString("base64url") !== text) return undefined;
  try {
    const [exp, grantId, jkt] = unseal(PURPOSE, sealed).split(" ");
    return { grantId: grantId as string, exp: Number(exp), ...(jkt && { jkt }) };
  } catch {
    return undefined;
  }
}

/**
 * A refresh token without a row, as the engine gets it: used, and of the Grant that it names. So a refresh with it revokes the Grant, as
 * does revoking it.
 * @returns undefined if its Grant has ended, or nobody issued it
 */
export async function findForgottenRefreshToken(id: string): Promise<Payload | undefined> {
  const named = readRefreshTokenId(id);
  const grant = named && (await findGrant(named.grantId));
  if (!grant) return undefined;
  const { accountId, clientId } = grant;
  const { scope } = (grant.openid ?? {}) as { scope?: string };
  return { ...named, kind: "RefreshToken", jti: id, accountId, clientId, scope, consumed: named.exp };
}
