import { type Scope, scopes } from "@keyhook/sdk";

/** OIDC Core §11. Not one of the fifteen scopes, since it grants no access itself. */
export const OFFLINE_ACCESS = "offline_access";

/** Users cannot untick these. */
export const requiredScopes: readonly Scope[] = ["openid", "profile"];

export const supportedScopes: readonly string[] = [...scopes, OFFLINE_ACCESS];
