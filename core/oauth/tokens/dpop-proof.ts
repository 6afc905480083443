import { hash } from "node:crypto";
import { calculateJwkThumbprint, decodeJwt, EmbeddedJWK, type JWK, type JWTPayload, jwtVerify } from "jose";
import { errors, type KoaContextWithOIDC } from "oidc-provider";
import { consumeThrottle } from "#core/accounts/throttle.ts";
import { env } from "#core/env.ts";
import { hasLongHost } from "#core/http/has-long-host.ts";
import { normalPath } from "#core/http/normal-path.ts";
import { isFirstUse, rememberedCounter } from "../artifacts/is-first-use.ts";
import { PROOF_AHEAD_SECONDS } from "../lifetimes.ts";

/**
 * RSA is excluded, because anybody can send proofs with any key, and verifying RSA is far more expensive (docs/decisions/027).
 */
export const DPOP_ALGORITHMS = ["ES256", "Ed25519", "EdDSA"] as const;

const FRESH_SECONDS = 300;

/** RFC 9449 §7.1: `invalid_dpop_proof`. */
export class InvalidDpopProof extends Error {
  override name = "InvalidDpopProof";
}

export type ProvenRequest = {
  proof: string;
  method: string;
  path: string;
};

/** RFC 9449 §4.3. Another request with the same proof is refused. */
export async function consumeDpopProof(
  request: ProvenRequest,
  token: { value: string; clientId: string; accountId: string; keyThumbprint: string },
): Promise<void> {
  const { payload, thumbprint, consume } = await checkProof(request, token.clientId);
  if (payload.ath !== hash("sha256", token.value, "base64url")) throw new InvalidDpopProof("the DPoP proof is for another token");
  if (thumbprint !== token.keyThumbprint) throw new InvalidDpopProof("the DPoP proof is signed with another key");
  await consumeThrottle(...rememberedCounter(token.accountId));
  await consume();
}

/**
 * RFC 9449 §5.
 * @returns the thumbprint of the key
 */
export async function consumeKeyProof(request: ProvenRequest, clientId: string): Promise<string> {
  const { thumbprint, consume } = await checkProof(request, clientId);
  await consume();
  return thumbprint;
}

async function checkProof(request: ProvenRequest, clientId: string) {
  const { payload, jwk } = await verify(request.proof);
  const { iat, jti } = payload;
  if (typeof jti !== "string" || jti === "") throw new InvalidDpopProof("the DPoP proof has no jti");
  const now = Date.now() / 1000;
  if (typeof iat !== "number" || iat < now - FRESH_SECONDS || isAhead(iat)) {
    throw new InvalidDpopProof("the DPoP proof is not fresh");
  }
  if (payload.nonce !== undefined) throw new InvalidDpopProof("the DPoP proof has an unknown nonce");
  if (payload.htm !== request.method) throw new InvalidDpopProof("the DPoP proof is for another method");
  if (!isAddressOf(payload.htu, request.path)) throw new InvalidDpopProof("the DPoP proof is for another URL");
  return {
    payload,
    thumbprint: await calculateJwkThumbprint(jwk),
    consume: async () => {
      const isFirst = await isFirstUse(clientId, jti, Math.ceil(now) + FRESH_SECONDS);
      if (!isFirst) throw new InvalidDpopProof("the DPoP proof was used before");
    },
  };
}

const isAhead = (iat: number): boolean => iat > Date.now() / 1000 + PROOF_AHEAD_SECONDS;

/** The engine calls this to ask whether a proof needs a nonce. Without this check, it would accept clocks five minutes ahead. */
export function refuseProofAhead(ctx: KoaContextWithOIDC): false {
  const { iat, htu } = decodeProof(ctx.get("DPoP"));
  if (typeof iat === "number" && isAhead(iat)) throw new errors.InvalidDpopProof("DPoP proof iat is in the future");
  if (typeof htu === "string" && hasLongHost(htu)) throw new errors.InvalidDpopProof("DPoP proof htu mismatch");
  return false;
}

function decodeProof(proof: string): JWTPayload {
  try {
    return decodeJwt(proof);
  } catch {
    return {};
  }
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

/** Compares with ORIGIN, because the client chooses the Host header (S110). Query and fragment are ignored (RFC 9449 §4.3). */
function isAddressOf(htu: unknown, path: string): boolean {
  const url = typeof htu === "string" && !hasLongHost(htu) ? URL.parse(htu) : null;
  if (!url) return false;
  url.search = "";
  url.hash = "";
  url.pathname = normalPath(url.pathname);
  return url.href === new URL(env().ORIGIN + path).href;
}
