import { scopes } from "@keyhook/sdk";
import { errors, type ResourceServer } from "oidc-provider";
import { pool } from "#core/db.ts";
import { env } from "#core/env.ts";

/** Our API as the audience of a token (RFC 8707): one name, whether or not the client's URL class ended it with a slash. */
export const apiAudience = (): string => env().ORIGIN;

/** A service beside this one that takes our tokens, as the operator has registered it. */
export type RegisteredResource = {
  /** Its address, which is the audience of its tokens. */
  identifier: string;
  name: string;
  scopes: string[];
};

/** A name without the slash that URL classes put after a bare origin. */
export function plainIdentifier(resource: string): string {
  return resource.replace(/^([a-z]+:\/\/[^/?#]+)\/$/, "$1");
}

/** What the operator has registered of these; our own API is not among them. */
export async function findRegisteredResources(identifiers: readonly string[]): Promise<RegisteredResource[]> {
  if (identifiers.length === 0) return [];
  const { rows } = await pool().query<RegisteredResource>({
    name: "resource-servers-find",
    text: "SELECT identifier, name, scopes FROM oauth_resource_server WHERE identifier = ANY ($1) ORDER BY name, identifier",
    values: [identifiers],
  });
  return rows;
}

/** What a request's `resource` names beside our own API: one value or several, as the engine has read them. */
export function foreignResources(parameter: unknown): string[] {
  const named = (Array.isArray(parameter) ? parameter : [parameter]).filter((each) => typeof each === "string");
  return [...new Set(named.map(plainIdentifier))].filter((identifier) => identifier !== apiAudience());
}

/**
 * The resource server that a `resource` parameter names: this service's own API, which has all scopes, or one of the operator's.
 * @throws InvalidTarget for any other (S54).
 */
export async function findResourceServer(resource: string): Promise<ResourceServer> {
  const identifier = plainIdentifier(resource);
  if (identifier === apiAudience()) return { audience: identifier, scope: scopes.join(" "), accessTokenFormat: "opaque" };
  const [found] = await findRegisteredResources([identifier]);
  if (!found) throw new errors.InvalidTarget();
  return { audience: found.identifier, scope: found.scopes.join(" "), accessTokenFormat: "opaque" };
}
