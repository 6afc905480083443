import { type Scope, scopes } from "@keyhook/sdk";

/** OIDC Core §11. Grants no access by itself. */
export const OFFLINE_ACCESS = "offline_access";

export const requiredScopes: readonly Scope[] = ["openid", "profile"];

export const supportedScopes: readonly string[] = [...scopes, OFFLINE_ACCESS];
