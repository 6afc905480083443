import type { JSONWebKeySet } from "jose";
import { fetchJson, IssuerUnusable } from "./fetch-json.ts";

export type DiscoveredKeys = { keySet: JSONWebKeySet; maxAgeSeconds: number | undefined };

const KEYS_MAX = 100;

/**
 * The signing keys of an issuer, from its discovery document (OpenID Connect Discovery §4). The document must name exactly the
 * requested issuer (§4.3): otherwise it speaks for another one. @throws IssuerUnusable
 */
export async function discoverKeys(issuer: string): Promise<DiscoveredKeys> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const { value: document } = await fetchJson(address, "the issuer's discovery document");
  if (document.issuer !== issuer) throw new IssuerUnusable("the issuer's discovery document names another issuer");
  const { jwks_uri: keysAddress } = document;
  if (typeof keysAddress !== "string" || URL.parse(keysAddress)?.protocol !== "https:") {
    throw new IssuerUnusable("the issuer's discovery document has no jwks_uri by https");
  }
  const { value, maxAgeSeconds } = await fetchJson(keysAddress, "the issuer's key set");
  const { keys } = value;
  const isKey = (key: unknown) => typeof key === "object" && key !== null && typeof (key as { kty?: unknown }).kty === "string";
  if (!Array.isArray(keys) || !keys.every(isKey)) throw new IssuerUnusable("the issuer's key set is none");
  if (keys.length > KEYS_MAX) throw new IssuerUnusable(`the issuer's key set has more than ${KEYS_MAX} keys`);
  return { keySet: { keys }, maxAgeSeconds };
}
