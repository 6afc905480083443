import { ProtocolError } from "../protocol-request.ts";
import { protocolRoutes } from "../protocol-routes.ts";
import { isDocumentAddress } from "./document-address.ts";
import { DocumentError } from "./document-error.ts";
import { requireDocument, revalidateDocument } from "./resolve-document.ts";

/** Requests that start something need a current document; those that continue something need one that was not withdrawn. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  protocolRoutes.authorization,
  protocolRoutes.pushed_authorization_request,
  protocolRoutes.device_authorization,
]);

/**
 * Makes sure, before the engine looks for the client, that its stored metadata document is usable (docs/decisions/026). All other endpoints
 * use the stored document. An ID that is not a document's URL is ignored here.
 * @param clientAddress the IP address to which limits apply.
 * @throws ProtocolError, never a redirect: an app that cannot be identified has no redirect URI
 */
export async function prepareClient(path: string, clientId: string | null, clientAddress: string): Promise<void> {
  if (!clientId || !isDocumentAddress(clientId)) return;
  try {
    if (BEGINNINGS.has(path)) await requireDocument(clientId, clientAddress);
    else if (path === protocolRoutes.token) await revalidateDocument(clientId, clientAddress);
  } catch (error) {
    throw error instanceof DocumentError ? toProtocolError(error, path) : error;
  }
}

function toProtocolError({ kind, message, isOwnFault, retryAfterSeconds = 5 }: DocumentError, path: string): ProtocolError {
  const description = message;
  if (kind === "busy") {
    return new ProtocolError(isOwnFault ? 429 : 503, "temporarily_unavailable", description, {
      "Retry-After": String(retryAfterSeconds),
    });
  }
  if (path !== protocolRoutes.token)
    return new ProtocolError(400, kind === "host" ? "unauthorized_client" : "invalid_client_metadata", description);
  return kind === "unreachable"
    ? new ProtocolError(503, "temporarily_unavailable", description, { "Retry-After": String(retryAfterSeconds) })
    : new ProtocolError(401, "invalid_client", description);
}
