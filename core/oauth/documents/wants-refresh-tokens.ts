import { OFFLINE_ACCESS } from "../scopes.ts";
import type { DocumentMetadata } from "./read-document.ts";

/**
 * Whether a document asks for refresh tokens once and for all, by `offline_access` among its scopes or by the grant. Agents ask
 * for the scopes that the service they call has named, which have nothing to do with how long they stay signed in, and would
 * send people to sign in anew every few hours.
 */
export function wantsRefreshTokens({ scope, grant_types }: Pick<DocumentMetadata, "scope" | "grant_types">): boolean {
  return scope?.split(" ").includes(OFFLINE_ACCESS) || grant_types?.includes("refresh_token") || false;
}
