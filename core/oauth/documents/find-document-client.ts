import type { AllClientMetadata } from "oidc-provider";

/** Whether a client id is the address of a client ID metadata document; ids of our own never look like one (S85). */
export function isDocumentAddress(clientId: string): boolean {
  return clientId.startsWith("https://");
}

/** The engine's metadata for a document that has been fetched; undefined for one that has not, or is blocked. Never fetches. */
export async function findDocumentClient(_clientId: string): Promise<AllClientMetadata | undefined> {
  return undefined;
}
