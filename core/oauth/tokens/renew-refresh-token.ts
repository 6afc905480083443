import type { KoaContextWithOIDC, RefreshToken } from "oidc-provider";
import { prolongArtifact } from "../artifacts/artifact-store.ts";
import { clientExtension } from "../clients/client-extension.ts";
import { REFRESH_TOKEN_ABSOLUTE_SECONDS, REFRESH_TOKEN_IDLE_SECONDS } from "../lifetimes.ts";

/**
 * Whether a refresh replaces the refresh token. It does for a public app whose token is not bound to a key (RFC 9700 §4.14.2), and for any
 * other app if its owner chose so. Otherwise the same token stays valid and its idle time begins again: an app that authenticates gains
 * nothing from new tokens, and would be signed out if the response with a new one were lost (FAPI 2.0 §5.3.2.1, note 1).
 */
export async function replacesRefreshToken({ oidc }: KoaContextWithOIDC): Promise<boolean> {
  const { Client: client, RefreshToken: token } = oidc.entities;
  if (!client || !token) throw new Error("a refresh without its client or its token");
  const isBound = client.clientAuthMethod !== "none" || token.isSenderConstrained();
  if (!isBound || clientExtension(client).isRefreshRotated) return true;
  const isUnused = await prolongArtifact("RefreshToken", token.jti, refreshTokenSeconds(token));
  // The token was replaced before rotation was turned off: this is a replay (S47).
  if (!isUnused) await token.consume();
  return false;
}

/** How long a refresh token lives from now on (S50). */
export function refreshTokenSeconds({ iiat }: RefreshToken): number {
  const now = Math.floor(Date.now() / 1000);
  const ageSeconds = now - (iiat ?? now);
  return Math.max(1, Math.min(REFRESH_TOKEN_IDLE_SECONDS, REFRESH_TOKEN_ABSOLUTE_SECONDS - ageSeconds));
}
