import { pool } from "#core/db.ts";
import { log } from "#core/log.ts";
import { loggableAddress } from "#core/outbound/loggable-address.ts";
import { forgetClient } from "../clients.ts";
import { explainDocumentAddress, hostnameOf } from "./document-address.ts";
import { DocumentError } from "./document-error.ts";
import { fetchDocument } from "./fetch-document.ts";
import { governed } from "./fetch-governor.ts";
import { fetchLogo } from "./fetch-logo.ts";
import { findStoredDocument, type StoredDocument } from "./find-stored-document.ts";
import type { HostStanding } from "./hosts/judge-host.ts";
import { type FetchedLogo, storeDocument } from "./store-document.ts";

/** A logo is fetched again after a day; after a failure, after five minutes. */
const LOGO_FRESH_MS = 24 * 60 * 60 * 1000;
const LOGO_RETRY_MS = 5 * 60 * 1000;
/** How long a site may be down before its app can no longer refresh its tokens. */
export const STALE_MAX_SECONDS = 7 * 24 * 60 * 60;
/** How long requests that do not need a site skip waiting for it after it failed to respond. */
export const REST_MS = 30_000;

const fetching = new Map<string, Promise<void>>();
const resting = new Map<string, number>();
const RESTING_MAX = 10_000;

/**
 * Ensures a current document, for a request that starts something (docs/decisions/026). Cheap checks come first: a request that fails one
 * of them causes no connection (S81).
 * @param address of the caller, by which requests are counted.
 * @throws DocumentError if there is none
 */
export async function requireDocument(clientId: string, address: string | null): Promise<void> {
  const broken = explainDocumentAddress(clientId);
  if (broken) throw new DocumentError("address", `The client ID cannot be the address of a metadata document. ${broken}`);
  const { document, standing } = await findStoredDocument(clientId);
  if (!standing.isAllowed) throw notAllowed(clientId, standing);
  if (document?.isFresh) return noteSeen(document);
  await fetchAndStore(clientId, document, address);
}

/**
 * Fetches a stale document again, for a request that continues something. An unknown URL is not fetched, since no such request can be
 * genuine. While the site is down, the stored document applies, except for its keys.
 * @throws DocumentError `refused` if the document is gone or broken, `unreachable` if its keys cannot be known
 */
export async function revalidateDocument(clientId: string, address: string | null): Promise<void> {
  if (explainDocumentAddress(clientId) !== undefined) return;
  const { document, standing } = await findStoredDocument(clientId);
  // The engine then finds no client, and responds accordingly.
  if (!document || !standing.isAllowed || document.isFresh) return;
  try {
    if ((resting.get(clientId) ?? 0) > Date.now())
      throw new DocumentError("unreachable", "Its host did not answer a moment ago.");
    await fetchAndStore(clientId, document, address);
  } catch (error) {
    if (!(error instanceof DocumentError) || error.kind === "refused") throw error;
    const hasKeys = document.metadata.token_endpoint_auth_method === "private_key_jwt";
    if (hasKeys || document.staleSeconds > STALE_MAX_SECONDS) throw error;
  }
}

function notAllowed(clientId: string, { policy }: HostStanding): DocumentError {
  const host = hostnameOf(clientId);
  if (policy === "off")
    return new DocumentError("host", "Apps that are known by a metadata document cannot sign people in here.");
  return new DocumentError("host", `The operator of this service does not let apps of ${host} sign people in.`);
}

/** Once for all requests at the same moment (S79). */
function fetchAndStore(clientId: string, document: StoredDocument | undefined, address: string | null): Promise<void> {
  let running = fetching.get(clientId);
  if (!running) {
    const asked = { clientId, hostname: hostnameOf(clientId), isKnown: document !== undefined, address };
    running = governed(asked, () => fetchUnlessFresh(clientId)).finally(() => fetching.delete(clientId));
    fetching.set(clientId, running);
  }
  return running;
}

async function fetchUnlessFresh(clientId: string): Promise<void> {
  // Read again: an earlier fetch may have finished between our first look and our turn.
  const { document } = await findStoredDocument(clientId);
  if (document?.isFresh) return;
  try {
    const fetched = await fetchDocument(clientId, document?.etag ?? null);
    resting.delete(clientId);
    const logo = await logoOf((fetched.metadata ?? document?.metadata)?.logo_uri, document);
    if (await storeDocument(clientId, fetched, logo)) forgetClient(clientId);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    log().info({ address: loggableAddress(clientId), reason: error.message }, "a metadata document cannot be had");
    if (error.kind === "unreachable") rest(clientId);
    throw error;
  }
}

function rest(clientId: string): void {
  if (resting.size >= RESTING_MAX) resting.clear();
  resting.set(clientId, Date.now() + REST_MS);
}

async function logoOf(uri: string | undefined, kept: StoredDocument | undefined): Promise<FetchedLogo> {
  if (!uri) return null;
  const ageMs = Date.now() - (kept?.logoFetchedAt?.getTime() ?? 0);
  const isKept = kept !== undefined && kept.metadata.logo_uri === uri;
  if (isKept && ageMs < (kept.logoId ? LOGO_FRESH_MS : LOGO_RETRY_MS)) return undefined;
  return (await fetchLogo(uri)) ?? null;
}

async function noteSeen({ clientId, isSeenLongAgo }: StoredDocument): Promise<void> {
  if (!isSeenLongAgo) return;
  await pool().query("UPDATE oauth_client_document SET last_seen_at = now() WHERE client_id = $1", [clientId]);
}
