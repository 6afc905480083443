import { sendRequest } from "#core/outbound/send-request.ts";
import { allowedPorts } from "./document-address.ts";
import { DocumentError } from "./document-error.ts";
import { freshSeconds } from "./fresh-seconds.ts";
import { type DocumentMetadata, readDocument } from "./read-document.ts";

/** Draft §"Fetching": a document is at most 5 KB (S74). */
export const DOCUMENT_MAX_BYTES = 5_120;
/** For DNS, connection, TLS and body together (S76): a user is waiting for the sign-in page. */
export const DOCUMENT_DEADLINE_MS = 5_000;

const ETAG_MAX_CHARACTERS = 300;

export type FetchedDocument = {
  /** Null if the stored one is still current (304). */
  metadata: DocumentMetadata | null;
  etag: string | null;
  freshSeconds: number;
};

/**
 * Fetches the document at a client ID, once, through the guard (S77).
 * @param etag of the stored document, if there is one
 * @throws DocumentError `refused` and `unreachable`
 */
export async function fetchDocument(clientId: string, etag: string | null): Promise<FetchedDocument> {
  const result = await sendRequest({
    url: clientId,
    headers: { accept: "application/json", ...(etag && { "if-none-match": etag }) },
    deadlineMs: DOCUMENT_DEADLINE_MS,
    maxBodyBytes: DOCUMENT_MAX_BYTES,
    onExcess: "cut",
    ports: allowedPorts(),
    isHttpsRequired: true,
  });
  if (result.outcome === "blocked") throw new DocumentError("refused", `It cannot be fetched: ${result.reason}.`);
  if (result.outcome === "unreachable") throw new DocumentError("unreachable", `It cannot be fetched: ${result.reason}.`);
  const { status, headers, body, isCut } = result;
  const freshness = { etag: storableEtag(headers.etag), freshSeconds: freshSeconds(headers) };
  if (status === 304 && etag) return { ...freshness, metadata: null, etag: freshness.etag ?? etag };
  assertAnswered(status, headers["content-type"]);
  if (isCut) throw new DocumentError("refused", `It is longer than ${DOCUMENT_MAX_BYTES} bytes.`);
  return { ...freshness, metadata: readDocument(clientId, body) };
}

/** S75. A status that says nothing about the document, such as busy, does not withdraw it. */
function assertAnswered(status: number, contentType = ""): void {
  if (status >= 500 || [408, 425, 429].includes(status)) {
    throw new DocumentError("unreachable", `Its host answers with the status ${status}.`);
  }
  if (status >= 300 && status < 400) {
    throw new DocumentError(
      "refused",
      `Its host answers with a redirect (${status}), which is not followed: serve it at its own address.`,
    );
  }
  if (status !== 200) throw new DocumentError("refused", `Its host answers with the status ${status} instead of 200.`);
  const [type = ""] = contentType.split(";");
  if (!/^application\/(?:json|[a-z0-9.+-]+\+json)$/i.test(type.trim())) {
    throw new DocumentError("refused", "It must be served as application/json.");
  }
}

function storableEtag(etag: string | undefined): string | null {
  return etag && etag.length <= ETAG_MAX_CHARACTERS && /^(?:W\/)?"[\x21\x23-\x7e]*"$/.test(etag) ? etag : null;
}
