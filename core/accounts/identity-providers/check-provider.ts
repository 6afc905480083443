import { ServiceError } from "../../errors.ts";
import { discoverIssuer } from "./discover-issuer.ts";
import { ProviderUnreachable } from "./fetch-from-provider.ts";
import type { ProviderKind } from "./provider-kinds.ts";

/**
 * Requests an issuer's discovery document before the provider is saved, so that a mistake is found now and not by the first
 * user who signs in.
 * @returns the issuer exactly as it calls itself, which is what its tokens contain
 * @throws ServiceError `invalid_request` on `issuer`: unreachable, a forbidden address, another issuer, nothing usable
 */
export async function checkProvider(kind: ProviderKind, issuer: string, orgId: string | null): Promise<string> {
  if (kind === "github") return issuer;
  try {
    const { metadata } = await discoverIssuer({ issuer, orgId }, { isFresh: true });
    return metadata.issuer;
  } catch (error) {
    if (!(error instanceof ProviderUnreachable)) throw error;
    throw new ServiceError("invalid_request", `This issuer could not be asked: ${error.message}.`, { field: "issuer" });
  }
}
