import { scopes } from "@keyhook/sdk";
import { errors, type ResourceServer } from "oidc-provider";
import { pool } from "../../db.ts";
import { env } from "../../env.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { RESOURCE_METADATA } from "../protocol-routes.ts";
import { DPOP_ALGORITHMS } from "../tokens/dpop-proof.ts";

export const apiAudience = (): string => env().ORIGIN;

export type RegisteredResource = {
  identifier: string;
  name: string;
  scopes: string[];
};

/** URL classes add a slash to an origin without a path. */
export function plainIdentifier(resource: string): string {
  return resource.replace(/^([a-z]+:\/\/[^/?#]+)\/$/, "$1");
}

export async function findRegisteredResources(identifiers: readonly string[]): Promise<RegisteredResource[]> {
  if (identifiers.length === 0) return [];
  const { rows } = await pool().query<RegisteredResource>({
    name: "resource-servers-find",
    text: "SELECT identifier, name, scopes FROM oauth_resource_server WHERE identifier = ANY ($1) ORDER BY name, identifier",
    values: [identifiers],
  });
  return rows;
}

export function foreignResources(parameter: unknown): string[] {
  const named = (Array.isArray(parameter) ? parameter : [parameter]).filter((each) => typeof each === "string");
  return [...new Set(named.map(plainIdentifier))].filter((identifier) => identifier !== apiAudience());
}

/** See S54. */
export async function findResourceServer(resource: string): Promise<ResourceServer> {
  const identifier = plainIdentifier(resource);
  if (identifier === apiAudience()) return { audience: identifier, scope: scopes.join(" "), accessTokenFormat: "opaque" };
  const [found] = await findRegisteredResources([identifier]);
  if (!found) throw new errors.InvalidTarget();
  return { audience: found.identifier, scope: found.scopes.join(" "), accessTokenFormat: "opaque" };
}

type Token = { kind?: string; clientId?: string; aud?: string | string[] };

/** RFC 7662 §2.1, S104. Tokens of a blocked client are hidden from resource servers (S87). */
export async function mayIntrospect(clientId: string, { kind, clientId: holder, aud }: Token): Promise<boolean> {
  if (holder === clientId) return true;
  if (kind !== "AccessToken" || typeof aud !== "string") return false;
  const { rowCount } = await pool().query({
    name: "resource-servers-introspect",
    text: `SELECT 1 FROM oauth_resource_server r JOIN oauth_app a ON a.id = r.app_id WHERE r.identifier = $1 AND a.client_id = $2`,
    values: [aud, clientId],
  });
  return rowCount === 1 && holder !== undefined && (await findClientMetadata(holder)) !== undefined;
}

/** RFC 9728 §3.1: the resource is the whole origin, so there is one document. */
export function resourceMetadata() {
  const { ORIGIN, BRAND_NAME } = env();
  return {
    resource: apiAudience(),
    authorization_servers: [ORIGIN],
    scopes_supported: [...scopes],
    bearer_methods_supported: ["header"],
    dpop_signing_alg_values_supported: [...DPOP_ALGORITHMS],
    resource_name: `${BRAND_NAME} API`,
  };
}

export type Challenge = {
  scheme?: "Bearer" | "DPoP";
  error?: "invalid_token" | "invalid_dpop_proof" | "insufficient_scope";
  scope?: string;
};

/** Without a scope in the challenge, clients would request every scope in the metadata. */
const SIGN_IN_SCOPE = "openid profile";

/** RFC 6750 §3, RFC 9728 §5.1. Bearer comes first for clients that know only this scheme (RFC 9449 §7.2). */
export function bearerChallenge({ scheme = "Bearer", error, scope = SIGN_IN_SCOPE }: Challenge = {}): string {
  const algs = DPOP_ALGORITHMS.join(" ");
  const parameters = {
    error,
    scope,
    algs: scheme === "DPoP" ? algs : undefined,
    resource_metadata: env().ORIGIN + RESOURCE_METADATA,
  };
  const written = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const challenge = `${scheme} ${written.map(([name, value]) => `${name}="${value}"`).join(", ")}`;
  return scheme === "DPoP" || error === "insufficient_scope" ? challenge : `${challenge}, DPoP algs="${algs}"`;
}
