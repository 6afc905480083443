import { z } from "zod";
import { discover, endpointAt, type ServiceOptions } from "./discover.ts";
import { base64url, fromBase64url, sha256 } from "./random.ts";
import { SignInError } from "./sign-in-error.ts";

const claimsSchema = z.looseObject({
  iss: z.string(),
  sub: z.string().min(1),
  aud: z.union([z.string(), z.array(z.string())]),
  exp: z.number(),
  iat: z.number(),
  nonce: z.string().optional(),
  azp: z.string().optional(),
  at_hash: z.string().optional(),
  auth_time: z.number().optional(),
  name: z.string().optional(),
  preferred_username: z.string().optional(),
  picture: z.string().optional(),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
});
/** What the service says of the person. `sub` is who they are: names and addresses change. */
export type IdTokenClaims = z.infer<typeof claimsSchema>;

export type IdTokenOptions = ServiceOptions & {
  idToken: string;
  clientId: string;
  /** Of the login; none where it was begun without one, as a device's is. */
  nonce?: string | undefined;
  /** Whatever came with it: it must be the one that the token speaks of. */
  accessToken?: string | undefined;
};

/** How far clocks may be apart. */
const TOLERANCE_SECONDS = 60;

const ALGORITHMS = {
  RS256: { kty: "RSA", import: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, verify: { name: "RSASSA-PKCS1-v1_5" } },
  ES256: { kty: "EC", import: { name: "ECDSA", namedCurve: "P-256" }, verify: { name: "ECDSA", hash: "SHA-256" } },
} as const;

/**
 * Checks an ID token: signature, issuer, audience, time, nonce and the access token that it came with.
 * @throws SignInError `invalid_id_token`
 * @see https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation and https://www.rfc-editor.org/rfc/rfc8725
 */
export async function verifyIdToken(options: IdTokenOptions): Promise<IdTokenClaims> {
  const { idToken, clientId, nonce, accessToken } = options;
  const { issuer, jwks_uri } = await discover(options);
  const { header, payload, signed, signature } = takeApart(idToken);
  // The key's kind and the hash are ours to say, never the token's: `none`, and HMAC with the public key, are how it is forged.
  const algorithm = Object.hasOwn(ALGORITHMS, header.alg) ? ALGORITHMS[header.alg as keyof typeof ALGORITHMS] : undefined;
  if (!algorithm || header.crit !== undefined) throw invalid(`it is signed by ${header.alg}`);
  const key = await findKey(jwks_uri, header, algorithm, options);
  if (!(await crypto.subtle.verify(algorithm.verify, key, signature, signed))) throw invalid("its signature is wrong");
  const { data: claims } = claimsSchema.safeParse(payload);
  if (!claims) throw invalid("a claim is missing or of another kind");

  const now = Date.now() / 1000;
  if (claims.iss !== issuer) throw invalid(`it is from ${claims.iss}`);
  const audience = [claims.aud].flat();
  if (!audience.includes(clientId)) throw invalid(`it is for ${audience.join(", ")}`);
  if ((claims.azp ?? clientId) !== clientId || (audience.length > 1 && claims.azp === undefined))
    throw invalid("it was given to another app");
  if (claims.exp + TOLERANCE_SECONDS <= now) throw invalid("it has expired; check this machine's clock");
  if (claims.iat - TOLERANCE_SECONDS > now) throw invalid("it is from the future; check this machine's clock");
  if (nonce !== undefined && claims.nonce !== nonce) throw invalid("its nonce is of another sign-in");
  if (accessToken !== undefined && claims.at_hash !== undefined) {
    const hash = base64url((await sha256(accessToken)).subarray(0, 16));
    if (claims.at_hash !== hash) throw invalid("it came with another access token");
  }
  return claims;
}

/** What an ID token says, unchecked: of one that this program verified before, or got from the token endpoint itself. */
export function readIdTokenClaims(idToken: string): IdTokenClaims {
  const { data } = claimsSchema.safeParse(takeApart(idToken).payload);
  if (!data) throw invalid("a claim is missing or of another kind");
  return data;
}

type Header = { alg: string; kid?: string | undefined; crit?: unknown };
const headerSchema = z.looseObject({ alg: z.string(), kid: z.string().optional(), crit: z.unknown().optional() });

function takeApart(jwt: string) {
  const [head = "", body = "", tail = "", ...more] = jwt.split(".");
  try {
    const header: Header = headerSchema.parse(json(head));
    if (more.length > 0) throw new TypeError("more than three parts");
    return { header, payload: json(body), signed: new TextEncoder().encode(`${head}.${body}`), signature: fromBase64url(tail) };
  } catch (cause) {
    throw invalid("it is no signed JWT", cause);
  }
}

const json = (part: string): unknown => JSON.parse(new TextDecoder().decode(fromBase64url(part)));

const keySetSchema = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string().optional(), use: z.string().optional() })),
});
type KeySet = z.infer<typeof keySetSchema>;

const KEPT_MS = 5 * 60 * 1000;
/** Whoever sends tokens of keys that are not there does not have us ask for each. */
const AGAIN_MS = 10 * 1000;
const kept = /* @__PURE__ */ new Map<string, { keys: Promise<KeySet>; at: number }>();

async function findKey(
  url: string,
  { kid }: Header,
  { kty, import: parameters }: (typeof ALGORITHMS)[keyof typeof ALGORITHMS],
  service: ServiceOptions,
): Promise<CryptoKey> {
  const among = ({ keys }: KeySet) =>
    keys.filter((key) => key.kty === kty && (key.use ?? "sig") === "sig" && (kid === undefined || key.kid === kid));
  let found = among(await readKeySet(url, service, KEPT_MS));
  // A new key may be at work since the set was read.
  if (found.length === 0) found = among(await readKeySet(url, service, AGAIN_MS));
  const [key, another] = found;
  if (!key || another) throw invalid("the service has no such key");
  const { n, e, crv, x, y } = key as Record<string, string | undefined>;
  const jwk: JsonWebKey = kty === "RSA" ? { kty, n: n ?? "", e: e ?? "" } : { kty, crv: crv ?? "", x: x ?? "", y: y ?? "" };
  return crypto.subtle.importKey("jwk", jwk, parameters, false, ["verify"]);
}

function readKeySet(url: string, service: ServiceOptions, maxAgeMs: number): Promise<KeySet> {
  const known = kept.get(url);
  if (known && Date.now() - known.at < maxAgeMs) return known.keys;
  const { transport, path } = endpointAt(url, service);
  const keys = transport.request("GET", path, { schema: keySetSchema });
  kept.set(url, { keys, at: Date.now() });
  keys.catch(() => kept.delete(url));
  return keys;
}

function invalid(why: string, cause?: unknown): SignInError {
  return new SignInError(`The ID token is not valid: ${why}.`, { code: "invalid_id_token", cause });
}
