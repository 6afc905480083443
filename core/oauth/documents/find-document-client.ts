import type { AllClientMetadata } from "oidc-provider";
import { clientOfDocument } from "./client-of-document.ts";
import { explainDocumentAddress } from "./document-address.ts";
import { findStoredDocument } from "./find-stored-document.ts";

/** The engine's metadata for a fetched document; undefined for one that was not fetched or is blocked. Never fetches. */
export async function findDocumentClient(clientId: string): Promise<AllClientMetadata | undefined> {
  if (explainDocumentAddress(clientId) !== undefined) return undefined;
  const { document, standing } = await findStoredDocument(clientId);
  return document && standing.isAllowed ? clientOfDocument(document) : undefined;
}
