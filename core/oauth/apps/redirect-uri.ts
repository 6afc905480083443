import { explainRedirectUris, isRedirectUriAllowed as isAllowed } from "@keyhook/sdk";
import { env } from "../../env.ts";
import { ServiceError } from "../../errors.ts";

/** An app's redirect or post-logout redirect URIs, without duplicates; throws with what to do about the first invalid one. */
export function parseRedirectUris(uris: readonly string[], field: "redirectUris" | "postLogoutRedirectUris"): string[] {
  const unique = [...new Set(uris)];
  const problem = explainRedirectUris(unique, { ownOrigin: env().ORIGIN });
  if (problem) throw new ServiceError("invalid_request", problem, { field });
  return unique;
}

/** Whether a request's redirect URI matches one of an app's (S2, S4, S5, S20); see the rule in `@keyhook/sdk`. */
export function isRedirectUriAllowed(registered: readonly string[], requested: string): boolean {
  return isAllowed(registered, requested, { ownOrigin: env().ORIGIN });
}
