import type { AllClientMetadata } from "oidc-provider";

/** The engine's metadata for a document that has been fetched; undefined for one that has not, or is blocked. Never fetches. */
export async function findDocumentClient(_clientId: string): Promise<AllClientMetadata | undefined> {
  return undefined;
}
