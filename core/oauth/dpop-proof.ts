import { hash } from "node:crypto";
import { calculateJwkThumbprint, EmbeddedJWK, type JWK, jwtVerify } from "jose";
import { env } from "#core/env.ts";
import { isFirstUse } from "./replay.ts";

/**
 * The algorithms with which a DPoP proof may be signed. No RSA: anyone can send a proof with a key of their choice, and checking RSA costs
 * far more; a key made for this purpose does not need it (docs/decisions/027).
 */
export const DPOP_ALGORITHMS = ["ES256", "Ed25519", "EdDSA"] as const;

/** How old a proof may be, or how far ahead its clock; the same as at the engine's endpoints. */
const FRESH_SECONDS = 300;

/** An invalid proof: RFC 9449 §7.1, `invalid_dpop_proof`. */
export class InvalidDpopProof extends Error {
  override name = "InvalidDpopProof";
}

/** The parts of a request with a token that its proof covers. */
export type ProvenRequest = {
  /** The `DPoP` header. */
  proof: string;
  method: string;
  /** Without query. */
  path: string;
};

/**
 * Checks that the holder of the token's key made a proof for this request and this token (RFC 9449 §4.3), and consumes it: no second
 * request may use it.
 * @throws InvalidDpopProof
 */
export async function takeDpopProof(
  request: ProvenRequest,
  token: { value: string; clientId: string; keyThumbprint: string },
): Promise<void> {
  const { payload, thumbprint, take } = await checkProof(request, token.clientId);
  if (payload.ath !== hash("sha256", token.value, "base64url")) throw new InvalidDpopProof("the DPoP proof is for another token");
  if (thumbprint !== token.keyThumbprint) throw new InvalidDpopProof("the DPoP proof is of another key");
  await take();
}

/**
 * The same without a token (RFC 9449 §5): consumes the proof that accompanies a token request.
 * @returns the thumbprint of the key that it proves.
 * @throws InvalidDpopProof
 */
export async function takeKeyProof(request: ProvenRequest, clientId: string): Promise<string> {
  const { thumbprint, take } = await checkProof(request, clientId);
  await take();
  return thumbprint;
}

async function checkProof(request: ProvenRequest, clientId: string) {
  const { payload, jwk } = await verify(request.proof);
  const { iat, jti } = payload;
  if (typeof jti !== "string" || jti === "") throw new InvalidDpopProof("the DPoP proof has no jti");
  const now = Date.now() / 1000;
  if (typeof iat !== "number" || Math.abs(now - iat) > FRESH_SECONDS) throw new InvalidDpopProof("the DPoP proof is not fresh");
  if (payload.nonce !== undefined) throw new InvalidDpopProof("the DPoP proof has a nonce that was not given here");
  if (payload.htm !== request.method) throw new InvalidDpopProof("the DPoP proof is for another method");
  if (!isAddressOf(payload.htu, request.path)) throw new InvalidDpopProof("the DPoP proof is for another address");
  return {
    payload,
    thumbprint: await calculateJwkThumbprint(jwk),
    /** Last, so that an otherwise invalid proof is not consumed. */
    take: async () => {
      const isFirst = await isFirstUse(clientId, jti, Math.ceil(now) + FRESH_SECONDS);
      if (!isFirst) throw new InvalidDpopProof("the DPoP proof was used before");
    },
  };
}

async function verify(proof: string) {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: [...DPOP_ALGORITHMS],
      typ: "dpop+jwt",
    });
    return { payload, jwk: protectedHeader.jwk as JWK };
  } catch (cause) {
    throw new InvalidDpopProof("the DPoP proof is not valid", { cause });
  }
}

/** Compares with our URL as clients know it, whatever the request's Host (S110); query and fragment are ignored (RFC 9449 §4.3). */
function isAddressOf(htu: unknown, path: string): boolean {
  const url = typeof htu === "string" ? URL.parse(htu) : null;
  if (!url) return false;
  url.search = "";
  url.hash = "";
  return url.href === new URL(env().ORIGIN + path).href;
}
