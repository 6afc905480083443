import { randomUUID } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { hashToken } from "#core/crypto/token.ts";

/** Signs proofs itself, so that tests can corrupt them (RFC 9449 §4.2). */
export type ProofKey = Awaited<ReturnType<typeof proofKey>>;

type Spoiled = {
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
};

export async function proofKey(alg = "ES256") {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = await exportJWK(publicKey);

  async function proof(method: string, url: string, accessToken?: string, { header, claims }: Spoiled = {}): Promise<string> {
    const all = {
      jti: randomUUID(),
      htm: method,
      htu: url,
      iat: Math.floor(Date.now() / 1000),
      // `ath` (RFC 9449) is the hash under which the token is stored.
      ...(accessToken !== undefined && { ath: hashToken(accessToken) }),
      ...claims,
    };
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    return new SignJWT(given).setProtectedHeader({ alg, typ: "dpop+jwt", jwk, ...header }).sign(privateKey);
  }

  return { alg, jwk, privateKey, publicKey, thumbprint: await calculateJwkThumbprint(jwk), proof };
}
