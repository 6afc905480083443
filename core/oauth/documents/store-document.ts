import { isDeepStrictEqual } from "node:util";
import { endDelegationsOf } from "#core/access/delegation.ts";
import { mayRecord } from "#core/accounts/throttle.ts";
import { changesOf } from "#core/audit/changes.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import { type Db, db } from "#core/db.ts";
import type { Prisma } from "#core/generated/prisma/client.ts";
import { insertImage } from "#core/images/stored-image.ts";
import { log } from "#core/log.ts";
import { isRedirectUriAllowed } from "../apps/app-settings.ts";
import { notifyAppChange } from "../apps/change-app.ts";
import { hostnameOf } from "./document-address.ts";
import type { FetchedDocument } from "./fetch-document.ts";
import type { DocumentMetadata } from "./read-document.ts";

/** Null if the logo cannot be shown. Undefined if the logo was not fetched. */
export type FetchedLogo = Uint8Array<ArrayBuffer> | null | undefined;

/**
 * A removed redirect URI may have led to an attacker, so its Grants end (S86).
 * @returns whether the client changed
 */
export async function storeDocument(clientId: string, fetched: FetchedDocument, logo: FetchedLogo): Promise<boolean> {
  const isRecorded = await isChangeRecorded(clientId, fetched, logo);
  return db().$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`document ${clientId}`}, 0))`;
    const kept = await tx.oAuthClientDocument.findUnique({ where: { clientId } });
    const before = kept?.metadata as DocumentMetadata | undefined;
    const metadata = fetched.metadata ?? before;
    // The server answered 304, but housekeeping has deleted the stored document meanwhile.
    if (!metadata) return false;

    const logoId = await storeLogo(tx, kept?.logoId ?? null, before?.logo_uri, metadata.logo_uri, logo);
    const isChanged = !isDeepStrictEqual(before, metadata) || logoId !== (kept?.logoId ?? null);
    const now = new Date();
    const fields = {
      host: new URL(clientId).host,
      metadata: metadata as object as Prisma.InputJsonObject,
      logoId,
      ...(logo !== undefined && { logoFetchedAt: now }),
      etag: fetched.etag,
      fetchedAt: now,
      freshUntil: new Date(now.getTime() + fetched.freshSeconds * 1000),
      lastSeenAt: now,
      ...(kept && isChanged && { changedAt: now }),
    };
    await tx.oAuthClientDocument.upsert({ where: { clientId }, create: { clientId, ...fields }, update: fields });
    if (!isChanged) return false;
    if (before) await applyChange(tx, clientId, before, metadata, isRecorded);
    await notifyAppChange(tx, clientId);
    return true;
  });
}

/**
 * A logo that could not be fetched stays if its URL is unchanged. Otherwise users would be asked again because a server is down.
 */
export async function storeLogo(
  tx: Db,
  keptId: string | null,
  keptUri: string | undefined,
  uri: string | undefined,
  logo: FetchedLogo,
): Promise<string | null> {
  const isSameUri = uri !== undefined && uri === keptUri;
  if (!logo && isSameUri) return keptId;
  if (logo && keptId) {
    const kept = await tx.image.findUnique({ where: { id: keptId }, select: { bytes: true } });
    if (kept && Buffer.compare(kept.bytes, logo) === 0) return keptId;
  }
  if (keptId) await tx.image.deleteMany({ where: { id: keptId } });
  return logo ? insertImage(tx, logo) : null;
}

/** An hourly limit. The document's owner must not be able to fill the audit log (S144). */
export const CHANGES_OF_DOCUMENT = 20;

/** Counted before the transaction, because a rollback would undo the count. */
async function isChangeRecorded(clientId: string, { metadata }: FetchedDocument, logo: FetchedLogo): Promise<boolean> {
  const kept = await db().oAuthClientDocument.findUnique({ where: { clientId }, select: { metadata: true } });
  const isChanged = kept !== null && (Boolean(logo) || (metadata !== null && !isDeepStrictEqual(kept.metadata, metadata)));
  if (!isChanged || !(await isUsed(db(), clientId))) return true;
  return mayRecord("document_change", { subject: clientId, limit: CHANGES_OF_DOCUMENT, host: hostnameOf(clientId) });
}

async function isUsed(client: Db, clientId: string): Promise<boolean> {
  return (await client.oAuthConsent.count({ where: { clientId, revokedAt: null } })) > 0;
}

async function applyChange(
  tx: Db,
  clientId: string,
  before: DocumentMetadata,
  after: DocumentMetadata,
  isRecorded: boolean,
): Promise<void> {
  const isRemoved = before.redirect_uris.some((uri) => !after.redirect_uris.includes(uri));
  const revokedGrants = isRemoved ? await revokeGrantsOfRemovedUris(tx, clientId, after.redirect_uris) : 0;
  if (!(await isUsed(tx, clientId))) return;
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof DocumentMetadata)[];
  const data = { ...changesOf(before, after, fields), revokedGrants };
  if (isRecorded) await recordAuditEvent(tx, { type: "oauth_client_document.change", clientId, data });
  else log().warn({ clientId, data }, "a metadata document has changed, after many earlier changes");
}

async function revokeGrantsOfRemovedUris(tx: Db, clientId: string, redirectUris: string[]): Promise<number> {
  const used = await tx.$queryRaw<{ uri: string }[]>`
    SELECT DISTINCT g.payload ->> 'redirectUri' AS uri FROM oauth_grant g JOIN oauth_consent c ON c.id = g.consent_id
    WHERE c.client_id = ${clientId} AND g.revoked_at IS NULL AND g.payload ->> 'redirectUri' IS NOT NULL`;
  const gone = used.map(({ uri }) => uri).filter((uri) => !isRedirectUriAllowed(redirectUris, uri));
  if (gone.length === 0) return 0;
  const revoked = await tx.$queryRaw<{ id: string }[]>`
    UPDATE oauth_grant g SET revoked_at = now() FROM oauth_consent c
    WHERE c.id = g.consent_id AND c.client_id = ${clientId} AND g.revoked_at IS NULL AND g.payload ->> 'redirectUri' = ANY (${gone})
    RETURNING g.id`;
  const ids = revoked.map(({ id }) => id);
  await endDelegationsOf(tx, ids);
  return ids.length;
}
