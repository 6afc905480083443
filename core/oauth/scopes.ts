import { type Scope, scopes } from "@keyhook/sdk";

/** OIDC Core §11: requests a refresh token. Not one of the fifteen scopes, since it grants no access itself. */
export const OFFLINE_ACCESS = "offline_access";

/** Scopes that every sign-in needs: the consent page shows them ticked, does not let users untick them, and explains why. */
export const requiredScopes: readonly Scope[] = ["openid", "profile"];

/** The scopes that discovery lists. */
export const supportedScopes: readonly string[] = [...scopes, OFFLINE_ACCESS];
