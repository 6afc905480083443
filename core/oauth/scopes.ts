import { type Scope, scopes } from "@keyhook/sdk";

/** OIDC Core §11: asks for a refresh token. Not one of the fifteen; it grants no access of its own. */
export const OFFLINE_ACCESS = "offline_access";

/** Scopes without which a sign-in means nothing: the consent page shows them ticked for good and says why. */
export const requiredScopes: readonly Scope[] = ["openid", "profile"];

/** What discovery advertises. */
export const supportedScopes: readonly string[] = [...scopes, OFFLINE_ACCESS];
