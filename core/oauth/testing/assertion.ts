import { randomUUID } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from "jose";

export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** RFC 7523. */
export type ClientKeyPair = Awaited<ReturnType<typeof clientKeyPair>>;

export async function clientKeyPair(alg = "ES256", modulusLength = 2_048) {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true, modulusLength });
  const exported = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(exported);
  const jwk = { ...exported, kid };

  async function assertion(
    clientId: string,
    aud: unknown,
    claims: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
  ) {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: clientId, sub: clientId, aud, jti: randomUUID(), iat: now, exp: now + 60, ...claims };
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const signed = await new SignJWT(given).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
    return { client_assertion_type: ASSERTION_TYPE, client_assertion: signed };
  }

  return { alg, jwk, kid, privateKey, publicKey, assertion };
}
