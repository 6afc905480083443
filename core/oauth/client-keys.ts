import { createPublicKey, type JsonWebKey } from "node:crypto";
import { calculateJwkThumbprint, type JWK } from "jose";
import { ServiceError } from "#core/errors.ts";
import { parseJwks } from "./client-metadata/parse-jwks.ts";

/** The algorithms with which a client may sign its assertions (RFC 7523); none with shared secrets. */
export const CLIENT_KEY_ALGORITHMS = ["RS256", "PS256", "ES256", "Ed25519", "EdDSA"] as const;
type Algorithm = (typeof CLIENT_KEY_ALGORITHMS)[number];

/** An app's public key, with the `kid` by which its assertions name it. */
export type ClientKey = JWK & { kid: string };

const TEXT_MAX_CHARACTERS = 32_768;
const PEM = /-----BEGIN ([A-Z ]{1,40})-----[^-]+-----END \1-----/g;

const problem = (sentence: string) => new ServiceError("invalid_request", sentence, { field: "jwks" });

/** Whether a text contains a private or shared key: it must not be shown again, let alone stored. */
export function hasPrivateKey(text: string): boolean {
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text) || /"(?:d|p|q|dp|dq|qi|k|priv)"\s*:\s*"/.test(text);
}

/**
 * Parses public keys as a developer pastes them: a key set or a single key as JSON, or PEM (public keys, certificates). A key without a
 * `kid` gets its thumbprint as one (RFC 7638). Unlike in a fetched set, no key is skipped: whoever pastes a key expects it to work.
 * @throws ServiceError `invalid_request` with the field `jwks` and what to do.
 */
export async function parsePastedKeys(text: string): Promise<{ keys: ClientKey[] }> {
  if (text.length > TEXT_MAX_CHARACTERS) throw problem("This is more than a key set: paste the public keys alone.");
  if (hasPrivateKey(text)) {
    throw problem(
      "This has the private half of a key in it, which is no secret any more. Make a new pair, and paste its public half.",
    );
  }
  const given = text.includes("-----BEGIN") ? keysOfPem(text) : keysOfJson(text);
  const keys = parseJwks({ keys: given }).keys as JWK[];
  if (keys.length < given.length) throw ofOtherKind();
  const named = await Promise.all(keys.map(async (key) => ({ ...key, kid: key.kid ?? (await calculateJwkThumbprint(key)) })));
  for (const key of named) checkAlgorithm(key);
  if (new Set(named.map(({ kid }) => kid)).size < named.length) throw problem("Two keys have the same kid: give each its own.");
  return { keys: named };
}

type KeyKind = { kty?: string; crv?: string; alg?: string };

/** The algorithms with which an assertion of this key may be signed. */
export function algorithmsOf({ kty, crv, alg }: KeyKind): readonly Algorithm[] {
  const usable = kty === "RSA" ? RSA : kty === "EC" && crv === "P-256" ? EC : kty === "OKP" && crv === "Ed25519" ? OKP : [];
  return alg === undefined ? usable : usable.filter((each) => each === alg);
}
const RSA = ["RS256", "PS256"] as const;
const EC = ["ES256"] as const;
const OKP = ["Ed25519", "EdDSA"] as const;

function checkAlgorithm(key: ClientKey): void {
  if (key.use !== undefined && key.use !== "sig") throw problem(`The key ${key.kid} is not for signatures: its use is not sig.`);
  if (algorithmsOf({ ...key, alg: undefined }).length === 0) throw ofOtherKind();
  if (algorithmsOf(key).length === 0) throw problem(`The key ${key.kid} names an alg that does not go with it here.`);
}

const ofOtherKind = () => problem("A key here is of a kind that is not used. Use RSA, P-256 (ES256) or Ed25519.");

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
  throw problem("This PEM text cannot be read. Paste public keys or certificates, each with its first and last line.");
}
