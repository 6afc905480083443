import { scopes } from "@keyhook/sdk";
import { errors, type ResourceServer } from "oidc-provider";
import { env } from "#core/env.ts";

/** Our API as the audience of a token (RFC 8707): one name, whether or not the client's URL class ended it with a slash. */
export const apiAudience = (): string => env().ORIGIN;

/**
 * The resource server that a `resource` parameter names. There is one, this service's own API; its scopes are the fifteen.
 * @throws InvalidTarget for any other (S54).
 */
export function findResourceServer(resource: string): ResourceServer {
  if (resource !== apiAudience() && resource !== `${apiAudience()}/`) throw new errors.InvalidTarget();
  return { audience: apiAudience(), scope: scopes.join(" "), accessTokenFormat: "opaque" };
}
