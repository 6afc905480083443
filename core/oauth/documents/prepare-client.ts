import { pool } from "#core/db.ts";
import { log } from "#core/log.ts";
import { loggableAddress } from "#core/outbound/parse-target.ts";
import { forgetClient } from "../clients/find-client.ts";
import { ProtocolError } from "../protocol-request.ts";
import { protocolRoutes } from "../protocol-routes.ts";
import { explainDocumentAddress, hostnameOf, isDocumentAddress } from "./document-address.ts";
import { DocumentError } from "./document-error.ts";
import { fetchDocument, fetchLogo } from "./fetch-document.ts";
import { findStoredDocument, type StoredDocument } from "./find-document-client.ts";
import type { HostDecision } from "./hosts/document-policy.ts";
import { type FetchedLogo, storeDocument } from "./store-document.ts";
import { withinFetchLimits } from "./within-fetch-limits.ts";

const STARTING_ROUTES: ReadonlySet<string> = new Set([
  protocolRoutes.authorization,
  protocolRoutes.pushed_authorization_request,
  protocolRoutes.device_authorization,
]);

/**
 * Call this before the engine looks for the client (docs/decisions/026). An unidentified app has no redirect URI, so errors do
 * not redirect.
 */
export async function prepareClient(path: string, clientId: string | null, clientAddress: string): Promise<void> {
  if (!clientId || !isDocumentAddress(clientId)) return;
  try {
    if (STARTING_ROUTES.has(path)) await requireDocument(clientId, clientAddress);
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

const LOGO_FRESH_MS = 24 * 60 * 60 * 1000;
const LOGO_RETRY_MS = 5 * 60 * 1000;
/** When a site has been down for longer, its app can no longer refresh tokens. */
export const STALE_MAX_SECONDS = 7 * 24 * 60 * 60;
/** While too many documents are being fetched (S80), one that has been stale for at most this long may start a sign-in. */
export const BUSY_STALE_MAX_SECONDS = 60 * 60;
export const BACKOFF_MS = 30_000;

const fetching = new Map<string, Promise<void>>();
const backoffUntil = new Map<string, number>();
/** These documents were withdrawn. Their stored copies stay unused even during a flood of fetches. */
const withdrawn = new Set<string>();
const REMEMBERED_MAX = 10_000;

/**
 * Cheap checks come first, without a fetch (S81, docs/decisions/026).
 * @param address the caller's address, to which fetch limits apply
 */
async function requireDocument(clientId: string, address: string | null): Promise<void> {
  const broken = explainDocumentAddress(clientId);
  if (broken) throw new DocumentError("address", `The client ID is not a valid URL of a metadata document. ${broken}`);
  const { document, hostDecision } = await findStoredDocument(clientId);
  if (!hostDecision.isAllowed) throw notAllowed(clientId, hostDecision);
  if (document?.isFresh) return noteSeen(document);
  try {
    await fetchAndStore(clientId, document, address);
  } catch (error) {
    const isBusy = error instanceof DocumentError && error.kind === "busy" && !error.isOwnFault;
    if (!isBusy || !document || isBackingOff(clientId) || !mayStillApply(document, BUSY_STALE_MAX_SECONDS)) throw error;
  }
}

/** A stale document with keys is not used, because old keys may have been stolen (S73). */
function mayStillApply({ clientId, metadata, staleSeconds }: StoredDocument, maxSeconds: number): boolean {
  const hasKeys = metadata.token_endpoint_auth_method === "private_key_jwt";
  return !hasKeys && !withdrawn.has(clientId) && staleSeconds <= maxSeconds;
}

const isBackingOff = (clientId: string): boolean => (backoffUntil.get(clientId) ?? 0) > Date.now();

/** Fetches only a document that is stored. While its site is down, the stored document stays in use, unless it has keys. */
async function revalidateDocument(clientId: string, address: string | null): Promise<void> {
  if (explainDocumentAddress(clientId) !== undefined) return;
  const { document, hostDecision } = await findStoredDocument(clientId);
  if (!document || !hostDecision.isAllowed || document.isFresh) return;
  try {
    if (isBackingOff(clientId))
      throw new DocumentError("unreachable", "The metadata document could not be fetched a moment ago.");
    await fetchAndStore(clientId, document, address);
  } catch (error) {
    if (!(error instanceof DocumentError) || error.kind === "refused" || !mayStillApply(document, STALE_MAX_SECONDS)) throw error;
  }
}

function notAllowed(clientId: string, { policy }: HostDecision): DocumentError {
  const host = hostnameOf(clientId);
  if (policy === "off")
    return new DocumentError("host", "Apps that are identified by a metadata document cannot sign users in here.");
  return new DocumentError("host", `The operator of this service does not allow apps of ${host}.`);
}

/** See S79. */
function fetchAndStore(clientId: string, document: StoredDocument | undefined, address: string | null): Promise<void> {
  let running = fetching.get(clientId);
  if (!running) {
    const use = document ? (document.isUsed ? "used" : "unused") : "unknown";
    const asked = { clientId, hostname: hostnameOf(clientId), use, address } as const;
    running = withinFetchLimits(asked, () => fetchUnlessFresh(clientId)).finally(() => fetching.delete(clientId));
    fetching.set(clientId, running);
  }
  return running;
}

async function fetchUnlessFresh(clientId: string): Promise<void> {
  // Another fetch may have finished since the first check.
  const { document } = await findStoredDocument(clientId);
  if (document?.isFresh) return;
  try {
    const fetched = await fetchDocument(clientId, document?.etag ?? null);
    backoffUntil.delete(clientId);
    withdrawn.delete(clientId);
    const logo = await logoOf((fetched.metadata ?? document?.metadata)?.logo_uri, document);
    if (await storeDocument(clientId, fetched, logo)) forgetClient(clientId);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    log().info({ address: loggableAddress(clientId), reason: error.message }, "a metadata document cannot be fetched");
    if (error.kind === "unreachable") backOff(clientId);
    else if (document) withdraw(clientId);
    throw error;
  }
}

function backOff(clientId: string): void {
  if (backoffUntil.size >= REMEMBERED_MAX) backoffUntil.clear();
  backoffUntil.set(clientId, Date.now() + BACKOFF_MS);
}

function withdraw(clientId: string): void {
  if (withdrawn.size >= REMEMBERED_MAX) withdrawn.clear();
  withdrawn.add(clientId);
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
