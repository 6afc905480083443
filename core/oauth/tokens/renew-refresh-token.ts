import type { KoaContextWithOIDC, RefreshToken } from "oidc-provider";
import { prolongArtifact } from "../artifacts/artifact-store.ts";
import { clientExtension } from "../clients/client-extension.ts";
import { REFRESH_TOKEN_ABSOLUTE_SECONDS, REFRESH_TOKEN_IDLE_SECONDS } from "../lifetimes.ts";

/**
 * A public app's plain token must be replaced (RFC 9700 §4.14.2). Other tokens stay, because a lost response would sign the user
 * out (FAPI 2.0 §5.3.2.1, note 1).
 */
export async function replacesRefreshToken({ oidc }: KoaContextWithOIDC): Promise<boolean> {
  const { Client: client, RefreshToken: token } = oidc.entities;
  if (!client || !token) throw new Error("a refresh without its client or its token");
  const isBound = client.clientAuthMethod !== "none" || token.isSenderConstrained();
  if (!isBound || clientExtension(client).isRefreshRotated) return true;
  const isUnused = await prolongArtifact("RefreshToken", token.jti, refreshTokenSeconds(token));
  // S47: the token was replaced before rotation was turned off. This is a replay.
  if (!isUnused) await token.consume();
  return false;
}

/** See S50. */
export function refreshTokenSeconds({ iiat }: RefreshToken): number {
  const now = Math.floor(Date.now() / 1000);
  const ageSeconds = now - (iiat ?? now);
  return Math.max(1, Math.min(REFRESH_TOKEN_IDLE_SECONDS, REFRESH_TOKEN_ABSOLUTE_SECONDS - ageSeconds));
}
