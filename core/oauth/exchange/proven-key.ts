import type { KoaContextWithOIDC } from "oidc-provider";
import { InvalidDpopProof, takeKeyProof } from "../dpop-proof.ts";
import { protocolRoutes } from "../protocol-routes.ts";
import { ExchangeRefusal } from "./exchange-refusal.ts";

/**
 * The thumbprint of the key to which the token will be bound (RFC 9449 §5), proved with this request; undefined for a plain token.
 * @throws ExchangeRefusal `invalid_dpop_proof`, also if the proof is missing and the app requires bound tokens (S113).
 */
export async function provenKey(ctx: KoaContextWithOIDC, clientId: string): Promise<string | undefined> {
  const refusal = (description: string) => new ExchangeRefusal("invalid_dpop_proof", "invalid_dpop_proof", description);
  const proof = ctx.get("DPoP");
  if (!proof) {
    if (ctx.oidc.client?.dpopBoundAccessTokens) throw refusal("this app gets tokens only with a DPoP proof");
    return undefined;
  }
  try {
    return await takeKeyProof({ proof, method: "POST", path: protocolRoutes.token }, clientId);
  } catch (error) {
    if (error instanceof InvalidDpopProof) throw refusal(error.message);
    throw error;
  }
}
