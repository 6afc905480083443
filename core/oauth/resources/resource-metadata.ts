import { scopes } from "@keyhook/sdk";
import { env } from "#core/env.ts";

import { DPOP_ALGORITHMS } from "../dpop-proof.ts";
import { RESOURCE_METADATA } from "../protocol-routes.ts";

import { apiAudience } from "./resource-servers.ts";

/**
 * Our API as a protected resource (RFC 9728): what lets a client that has nothing but its address find out who signs people in.
 * The resource is the whole origin, as `resource` and a token's audience name it, so that the document has one address and not
 * one for each path (RFC 9728 §3.1).
 */
export function resourceMetadata() {
  const { ORIGIN, BRAND_NAME } = env();
  return {
    resource: apiAudience(),
    authorization_servers: [ORIGIN],
    // Without offline_access: how long a client stays signed in is between it and the authorization server.
    scopes_supported: [...scopes],
    bearer_methods_supported: ["header"],
    dpop_signing_alg_values_supported: [...DPOP_ALGORITHMS],
    resource_name: `${BRAND_NAME} API`,
  };
}

export type Challenge = {
  /** As the request came, or `Bearer`. */
  scheme?: "Bearer" | "DPoP";
  error?: "invalid_token" | "invalid_dpop_proof" | "insufficient_scope";
  /** What the request would have needed, or what a client does well to ask for. */
  scope?: string;
};

/** What a plain sign-in asks for. A client that is told nothing asks for every scope of the metadata. */
const SIGN_IN_SCOPE = "openid profile";

/**
 * The `WWW-Authenticate` of our API (RFC 6750 §3, RFC 9728 §5.1): where the metadata is and which scope to ask for. There is no
 * error for a request that did not try. Who is kept out is told of both ways in, with a plain token and with one that is bound to a
 * key (RFC 9449 §7.2); Bearer stands first, where clients look that know only that.
 */
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
