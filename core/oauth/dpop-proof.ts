import { hash } from "node:crypto";
import { calculateJwkThumbprint, EmbeddedJWK, type JWK, jwtVerify } from "jose";
import { env } from "#core/env.ts";
import { isFirstUse } from "./replay.ts";

/**
 * What a DPoP proof may be signed with. No RSA: the key comes with the proof, from anybody, and checking one of its choosing
 * costs far more; a key made for this purpose needs none (docs/decisions/027).
 */
export const DPOP_ALGORITHMS = ["ES256", "Ed25519", "EdDSA"] as const;

/** How old a proof may be, or how far ahead its clock; the same as at the engine's endpoints. */
const FRESH_SECONDS = 300;

/** A proof that proves nothing: RFC 9449 §7.1, `invalid_dpop_proof`. */
export class InvalidDpopProof extends Error {
  override name = "InvalidDpopProof";
}

/** A request that carries a token, as far as its proof speaks of it. */
export type ProvenRequest = {
  /** The `DPoP` header. */
  proof: string;
  method: string;
  /** Without query. */
  path: string;
};

/**
 * Checks that a proof was made for this request and this token by the holder of the token's key (RFC 9449 §4.3), and takes it:
 * no second request may carry it.
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
 * The same where no token is there yet (RFC 9449 §5): takes a proof that goes with the request for one.
 * @returns the thumbprint of the key that it proves to hold.
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
    /** Last, so that a proof which fails otherwise is not used up. */
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

/** Our address as clients know it, whatever Host the request came with (S110); query and fragment do not count (RFC 9449 §4.3). */
function isAddressOf(htu: unknown, path: string): boolean {
  const url = typeof htu === "string" ? URL.parse(htu) : null;
  if (!url) return false;
  url.search = "";
  url.hash = "";
  return url.href === new URL(env().ORIGIN + path).href;
}
