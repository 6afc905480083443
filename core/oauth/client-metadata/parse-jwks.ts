import { createPublicKey, type JsonWebKey } from "node:crypto";
import type { JWK, JWKS } from "oidc-provider";
import { ServiceError } from "#core/errors.ts";

const MAX_KEYS = 20;
const RSA_MIN_BITS = 2_048;
const TEXT_MAX_CHARACTERS = 4_000;

/** The stored members of a public key (RFC 7518 §6), and the members that only a private key has. */
const membersOf: Record<string, readonly string[]> = {
  RSA: ["n", "e"],
  EC: ["crv", "x", "y"],
  OKP: ["crv", "x"],
};
const LABELS = ["kty", "kid", "use", "alg"];
const PRIVATE = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/**
 * Parses a client's public keys (RFC 7517) and keeps only what verification needs.
 * @throws ServiceError `invalid_request` for a private or shared key (S72), which its publisher must consider compromised, for a weak or
 * broken one, and for a set without a signing key
 */
export function parseJwks(value: unknown): JWKS {
  const { keys } = (value ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys) || !keys.every(isObject)) throw invalid("A key set is an object with a list of keys (RFC 7517).");
  if (keys.length > MAX_KEYS) throw invalid(`Keep at most ${MAX_KEYS} keys.`);
  const usable = keys.map(parseKey).filter((key) => key !== undefined);
  if (!usable.some(({ use }) => use !== "enc")) throw invalid("There is no key here that signs: give an RSA, EC or Ed25519 key.");
  return { keys: usable };
}

function parseKey(key: Record<string, unknown>): JWK | undefined {
  if (key.kty === "oct" || PRIVATE.some((member) => member in key)) {
    throw invalid("A private or shared key is published here. Replace it, it is no longer a secret, and list public keys only.");
  }
  const members = membersOf[String(key.kty)];
  // RFC 7517 §5: unknown key types are ignored.
  if (!members) return undefined;
  const kept = Object.fromEntries([...LABELS, ...members].flatMap((name) => (name in key ? [[name, text(key[name])]] : [])));
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: kept as JsonWebKey, format: "jwk" });
    if (key.kty === "RSA" && (asymmetricKeyDetails?.modulusLength ?? 0) < RSA_MIN_BITS) {
      throw invalid(`RSA keys have at least ${RSA_MIN_BITS} bits.`);
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw invalid("One of the keys cannot be read.");
  }
  return kept as JWK;
}

function text(value: unknown): string {
  if (typeof value === "string" && value.length <= TEXT_MAX_CHARACTERS && /^[\x20-\x7e]*$/.test(value)) return value;
  throw invalid("One of the keys cannot be read.");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(sentence: string): ServiceError {
  return new ServiceError("invalid_request", sentence, { field: "jwks" });
}
