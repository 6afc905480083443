import * as oauth from "oauth4webapi";
import { invalidRequest, type ServiceError } from "../../errors.ts";
import { hasLongHost } from "../../http/has-long-host.ts";
import { fetchFrom, isLocalInstallation, ProviderUnreachable } from "./fetch-from-provider.ts";

/** HS256 is left out, because the client secret would be the key (S41). */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"];

const FRESH_MILLISECONDS = 10 * 60 * 1000;
const CACHE_MAX_ISSUERS = 200;

type CachedIssuer = { metadata: oauth.AuthorizationServer; keys: oauth.JWKSCacheInput; until: number };
const cache = new Map<string, CachedIssuer>();

type DiscoveredIssuer = Pick<CachedIssuer, "metadata" | "keys">;

/** OpenID Connect Discovery 1.0 §4. `isFresh` ignores the cache. */
export async function discoverIssuer(
  { issuer, orgId }: { issuer: string; orgId: string | null },
  { isFresh = false } = {},
): Promise<DiscoveredIssuer> {
  const key = `${orgId ?? ""} ${issuer}`;
  const cached = cache.get(key);
  if (cached && cached.until > Date.now() && !isFresh) return cached;
  const metadata = await readMetadata(issuer, orgId);
  cache.delete(key);
  const [oldest] = cache.keys();
  if (oldest !== undefined && cache.size >= CACHE_MAX_ISSUERS) cache.delete(oldest);
  const found = { metadata, keys: {}, until: Date.now() + FRESH_MILLISECONDS };
  cache.set(key, found);
  return found;
}

async function readMetadata(issuer: string, orgId: string | null): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer);
  const published = await oauth
    .discoveryRequest(url, {
      algorithm: "oidc",
      [oauth.customFetch]: fetchFrom({ orgId }),
      [oauth.allowInsecureRequests]: isLocalInstallation(),
    })
    .then((response) => oauth.processDiscoveryResponse(url, response))
    .catch((error: unknown) => {
      if (error instanceof ProviderUnreachable) throw error;
      throw refuse(discoveryFault(error));
    });
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) requireAddress(published, name);
  if (published.userinfo_endpoint !== undefined) requireAddress(published, "userinfo_endpoint");
  const offered = published.id_token_signing_alg_values_supported;
  // If the list is missing, RS256 applies (OpenID Connect Discovery 1.0 §3).
  const accepted = (Array.isArray(offered) ? offered : ["RS256"]).filter((algorithm) => ALGORITHMS.includes(algorithm));
  if (accepted.length === 0) throw refuse("it signs ID tokens with none of the supported algorithms");
  const challenges = published.code_challenge_methods_supported;
  if (Array.isArray(challenges) && !challenges.includes("S256")) throw refuse("it does not support PKCE with S256");
  return { ...published, id_token_signing_alg_values_supported: accepted };
}

type Endpoint = "authorization_endpoint" | "token_endpoint" | "jwks_uri" | "userinfo_endpoint";

/** A browser is sent to the address, so `javascript:` must be refused. */
function requireAddress(published: oauth.AuthorizationServer, name: Endpoint): void {
  const value = published[name];
  if (typeof value !== "string") throw refuse(`its discovery document has no ${name}`);
  const protocol = hasLongHost(value) ? undefined : URL.parse(value)?.protocol;
  if (protocol === "https:" || (protocol === "http:" && isLocalInstallation())) return;
  throw refuse(`the ${name} in its discovery document is not an https URL`);
}

function discoveryFault(error: unknown): string {
  const { code, cause } = error as { code?: string; cause?: unknown };
  if (code === oauth.JSON_ATTRIBUTE_COMPARISON) {
    const { body } = (cause ?? {}) as { body?: { issuer?: unknown } };
    return `its discovery document is for another issuer, ${quoted(body?.issuer)}`;
  }
  if (code === oauth.RESPONSE_IS_NOT_CONFORM) {
    const status = cause instanceof Response ? cause.status : undefined;
    return status === undefined
      ? "it publishes no discovery document"
      : `it responded with status ${status} instead of its discovery document`;
  }
  if (code === oauth.RESPONSE_IS_NOT_JSON || code === oauth.PARSE_ERROR) return "its discovery document is not JSON";
  return "it publishes no usable discovery document";
}

function quoted(value: unknown): string {
  return typeof value === "string" ? `“${value.slice(0, 200)}”` : "which it does not name";
}

function refuse(reason: string): ServiceError {
  return invalidRequest(`This issuer cannot be used: ${reason}.`, "issuer");
}
