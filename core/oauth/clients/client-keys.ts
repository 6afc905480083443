import { createPublicKey, type JsonWebKey } from "node:crypto";
import { calculateJwkThumbprint, type JWK } from "jose";
import type { JWK as EngineJwk, JWKS } from "oidc-provider";
import { isCostlyKey, RSA_MAX_BITS } from "#core/crypto/costly-key.ts";
import { invalidRequest, ServiceError } from "#core/errors.ts";

/** RFC 7523. No algorithm uses a shared secret. */
export const CLIENT_KEY_ALGORITHMS = ["RS256", "PS256", "ES256", "Ed25519", "EdDSA"] as const;
type Algorithm = (typeof CLIENT_KEY_ALGORITHMS)[number];

type ClientKey = JWK & { kid: string };

const TEXT_MAX_CHARACTERS = 32_768;
const PEM = /-----BEGIN ([A-Z ]{1,40})-----[^-]+-----END \1-----/g;

const problem = (sentence: string) => invalidRequest(sentence, "jwks");

export function hasPrivateKey(text: string): boolean {
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text) || /"(?:d|p|q|dp|dq|qi|k|priv)"\s*:\s*"/.test(text);
}

/**
 * A key without a `kid` gets its thumbprint (RFC 7638). One unusable key refuses the whole text, because a developer expects each
 * pasted key to work.
 */
export async function parsePastedKeys(text: string): Promise<{ keys: ClientKey[] }> {
  if (text.length > TEXT_MAX_CHARACTERS) throw problem("This text is too long for a key set. Paste only the public keys.");
  if (hasPrivateKey(text)) {
    throw problem("This contains a private key, which is no longer secret. Create a new key pair, and paste its public key.");
  }
  const given = text.includes("-----BEGIN") ? keysOfPem(text) : keysOfJson(text);
  const keys = parseJwks({ keys: given }).keys as JWK[];
  if (keys.length < given.length) throw unsupportedType();
  const named = await Promise.all(keys.map(async (key) => ({ ...key, kid: key.kid ?? (await calculateJwkThumbprint(key)) })));
  for (const key of named) checkAlgorithm(key);
  if (new Set(named.map(({ kid }) => kid)).size < named.length) throw problem("Two keys have the same kid: give each its own.");
  return { keys: named };
}

type KeyKind = { kty?: string; crv?: string; alg?: string };

export function algorithmsOf({ kty, crv, alg }: KeyKind): readonly Algorithm[] {
  const usable = kty === "RSA" ? RSA : kty === "EC" && crv === "P-256" ? EC : kty === "OKP" && crv === "Ed25519" ? OKP : [];
  return alg === undefined ? usable : usable.filter((each) => each === alg);
}
const RSA = ["RS256", "PS256"] as const;
const EC = ["ES256"] as const;
const OKP = ["Ed25519", "EdDSA"] as const;

function checkAlgorithm(key: ClientKey): void {
  if (key.use !== undefined && key.use !== "sig") throw problem(`The key ${key.kid} is not for signatures: its use is not sig.`);
  if (algorithmsOf({ ...key, alg: undefined }).length === 0) throw unsupportedType();
  if (algorithmsOf(key).length === 0)
    throw problem(`The key ${key.kid} has an alg that does not fit its type. Correct or remove the alg.`);
}

const unsupportedType = () => problem("A key has an unsupported type. Use RSA, P-256 (ES256) or Ed25519.");

function keysOfJson(text: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw problem("This is neither JSON nor PEM. Paste a JSON Web Key Set, or public keys with their BEGIN and END lines.");
  }
  const { keys, kty } = (value ?? {}) as { keys?: unknown; kty?: unknown };
  if (kty !== undefined) return [value];
  if (Array.isArray(keys) && keys.length > 0) return keys;
  throw problem('A JSON Web Key Set is an object with a list of "keys".');
}

function keysOfPem(text: string): JsonWebKey[] {
  const keys = [...text.matchAll(PEM)].map(([block]) => {
    try {
      return createPublicKey(block).export({ format: "jwk" });
    } catch {
      return undefined;
    }
  });
  if (keys.length > 0 && keys.every((key) => key !== undefined)) return keys;
  throw problem("This PEM text cannot be read. Paste complete public keys or certificates.");
}

export const MAX_KEYS = 20;
const RSA_MIN_BITS = 2_048;
const MEMBER_MAX_CHARACTERS = 4_000;

/** RFC 7518 §6. */
const membersOf: Record<string, readonly string[]> = {
  RSA: ["n", "e"],
  EC: ["crv", "x", "y"],
  OKP: ["crv", "x"],
};
const LABELS = ["kty", "kid", "use", "alg"];
const PRIVATE = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/** RFC 7517. A published private or shared key is compromised (S72). */
export function parseJwks(value: unknown): JWKS {
  const { keys } = (value ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys) || !keys.every(isObject)) throw problem("A key set is an object with a list of keys (RFC 7517).");
  if (keys.length > MAX_KEYS) throw problem(`List at most ${MAX_KEYS} keys.`);
  const usable = keys.map(parseKey).filter((key) => key !== undefined);
  if (!usable.some(({ use }) => use !== "enc"))
    throw problem("There is no signing key. Add an RSA, P-256 (ES256) or Ed25519 key.");
  return { keys: usable };
}

function parseKey(key: Record<string, unknown>): EngineJwk | undefined {
  if (key.kty === "oct" || PRIVATE.some((member) => member in key)) {
    throw problem("A private or shared key is published here and is no longer secret. Replace it, and list only public keys.");
  }
  const members = membersOf[String(key.kty)];
  // RFC 7517 §5: unknown key types are ignored.
  if (!members) return undefined;
  const kept = Object.fromEntries([...LABELS, ...members].flatMap((name) => (name in key ? [[name, text(key[name])]] : [])));
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: kept as JsonWebKey, format: "jwk" });
    if (key.kty === "RSA" && (asymmetricKeyDetails?.modulusLength ?? 0) < RSA_MIN_BITS) {
      throw problem(`RSA keys must have at least ${RSA_MIN_BITS} bits.`);
    }
    if (isCostlyKey(kept as JsonWebKey)) {
      throw problem(`RSA keys can have at most ${RSA_MAX_BITS} bits, and an exponent of at most 32 bits (usually 65537).`);
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw problem("One of the keys is damaged. List each public key complete and unchanged, or remove it.");
  }
  return kept as EngineJwk;
}

function text(value: unknown): string {
  if (typeof value === "string" && value.length <= MEMBER_MAX_CHARACTERS && /^[\x20-\x7e]*$/.test(value)) return value;
  throw problem("One of the keys is damaged. List each public key complete and unchanged, or remove it.");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
