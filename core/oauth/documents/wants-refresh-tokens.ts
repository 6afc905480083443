import { OFFLINE_ACCESS } from "../scopes.ts";
import type { DocumentMetadata } from "./read-document.ts";

/**
 * Whether a document requests refresh tokens in general, by `offline_access` among its scopes or by the grant. Agents request the scopes
 * that the called service named, which say nothing about how long they stay signed in; users would have to sign in every few hours.
 */
export function wantsRefreshTokens({ scope, grant_types }: Pick<DocumentMetadata, "scope" | "grant_types">): boolean {
  return scope?.split(" ").includes(OFFLINE_ACCESS) || grant_types?.includes("refresh_token") || false;
}
