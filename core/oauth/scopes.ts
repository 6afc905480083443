import { type Scope, scopes } from "@keyhook/sdk";

/** OIDC Core §11. This scope grants no access itself. */
export const OFFLINE_ACCESS = "offline_access";

export const requiredScopes: readonly Scope[] = ["openid", "profile"];

export const supportedScopes: readonly string[] = [...scopes, OFFLINE_ACCESS];
