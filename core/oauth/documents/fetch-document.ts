import { isServiceError } from "#core/errors.ts";
import { encodeImage } from "#core/images/encode-image.ts";
import { log } from "#core/log.ts";
import { loggableAddress } from "#core/outbound/parse-target.ts";
import { sendRequest } from "#core/outbound/send-request.ts";
import { allowedPorts } from "./document-address.ts";
import { DocumentError } from "./document-error.ts";
import { type DocumentMetadata, readDocument } from "./read-document.ts";

/** The draft's section "Fetching" (S74). */
const DOCUMENT_MAX_BYTES = 5_120;
/** The deadline for DNS, connection, TLS and body together (S76). */
const DOCUMENT_DEADLINE_MS = 5_000;

const ETAG_MAX_CHARACTERS = 300;

export type FetchedDocument = {
  metadata: DocumentMetadata | null;
  etag: string | null;
  freshSeconds: number;
};

/**
 * See S77.
 * @param etag the ETag of the stored document
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
  if (result.outcome === "blocked")
    throw new DocumentError("refused", `The metadata document cannot be fetched: ${result.reason}.`);
  if (result.outcome === "unreachable")
    throw new DocumentError("unreachable", `The metadata document cannot be fetched: ${result.reason}.`);
  const { status, headers, body, isCut } = result;
  const freshness = { etag: storableEtag(headers.etag), freshSeconds: freshSeconds(headers) };
  if (status === 304 && etag) return { ...freshness, metadata: null, etag: freshness.etag ?? etag };
  assertAnswered(status, headers["content-type"]);
  if (isCut)
    throw new DocumentError("refused", `The metadata document is longer than ${DOCUMENT_MAX_BYTES.toLocaleString("en")} bytes.`);
  return { ...freshness, metadata: readDocument(clientId, body) };
}

/** S75: a status such as 503 does not withdraw the document. */
function assertAnswered(status: number, contentType = ""): void {
  if (status >= 500 || [408, 425, 429].includes(status)) {
    throw new DocumentError("unreachable", `The metadata document's host responds with status ${status}.`);
  }
  if (status >= 300 && status < 400) {
    throw new DocumentError(
      "refused",
      `The metadata document's host responds with a redirect (${status}), which is not followed. Serve the document at its own URL.`,
    );
  }
  if (status !== 200)
    throw new DocumentError("refused", `The metadata document's host responds with status ${status} instead of 200.`);
  const [type = ""] = contentType.split(";");
  if (!/^application\/(?:json|[a-z0-9.+-]+\+json)$/i.test(type.trim())) {
    throw new DocumentError("refused", "The metadata document must be served as application/json.");
  }
}

function storableEtag(etag: string | undefined): string | null {
  return etag && etag.length <= ETAG_MAX_CHARACTERS && /^(?:W\/)?"[\x21\x23-\x7e]*"$/.test(etag) ? etag : null;
}

export const LOGO_MAX_BYTES = 256 * 1024;
const LOGO_DEADLINE_MS = 3_000;
/** Limited, because anybody can make this service decode a logo. */
const LOGO_MAX_PIXELS = 2_048 * 2_048;

/**
 * See S82. An app is accepted even without its logo.
 * @returns undefined if there is no image that can be shown
 */
export async function fetchLogo(logoUri: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const result = await sendRequest({
    url: logoUri,
    headers: { accept: "image/webp,image/png,image/jpeg,image/avif,image/gif" },
    deadlineMs: LOGO_DEADLINE_MS,
    maxBodyBytes: LOGO_MAX_BYTES,
    onExcess: "fail",
    ports: allowedPorts(),
    isHttpsRequired: true,
  });
  if (result.outcome !== "answered" || result.status !== 200) {
    log().info(
      { address: loggableAddress(logoUri), reason: result.outcome === "answered" ? result.status : result.reason },
      "a logo cannot be fetched",
    );
    return undefined;
  }
  try {
    return await encodeImage(result.body, "logo_uri", LOGO_MAX_PIXELS);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    log().info({ address: loggableAddress(logoUri), reason: error.message }, "a logo cannot be shown");
    return undefined;
  }
}

/** Even without caching, a popular app's document is fetched only once in this time for all its users. */
const FRESH_MIN_SECONDS = 30;
/** With this limit, a changed redirect URI takes effect after at most a day. */
const FRESH_MAX_SECONDS = 24 * 60 * 60;
export const FRESH_DEFAULT_SECONDS = 5 * 60;

/** RFC 9111 §4.2 (S79). */
export function freshSeconds(headers: Record<string, string>): number {
  const directives = (headers["cache-control"] ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim());
  if (directives.some((each) => /^(?:no-store|no-cache)(?:=|$)/.test(each))) return FRESH_MIN_SECONDS;
  const [, maxAge] = directives.map((each) => /^max-age="?(\d{1,10})"?$/.exec(each)).find(Boolean) ?? [];
  if (maxAge === undefined) return FRESH_DEFAULT_SECONDS;
  const age = /^\d{1,10}$/.test(headers.age ?? "") ? Number(headers.age) : 0;
  return Math.min(FRESH_MAX_SECONDS, Math.max(FRESH_MIN_SECONDS, Number(maxAge) - age));
}
