import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, inTransaction } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import { isId } from "#core/ids.ts";
import { lockConsents, recordOrganizationConsents } from "./store-answer.ts";

/** Every use of a token requires a live consent (S114), so the app's tokens end with the commit. */
export async function revokeConsent(session: SiteSession, consentId: string, from: RequestOrigin): Promise<void> {
  if (!isId(consentId)) throw notFound("Connected app");
  await inTransaction(async (tx) => {
    const mine = { id: consentId, userId: session.user.id, revokedAt: null };
    const owner = await tx.oAuthConsent.findFirst({ where: mine, select: { userId: true, clientId: true } });
    if (!owner) throw notFound("Connected app");
    await lockConsents(tx, owner);
    const consent = await tx.oAuthConsent.findFirst({ where: mine });
    const { count } = await tx.oAuthConsent.updateMany({ where: mine, data: { revokedAt: new Date() } });
    if (!consent || count === 0) throw notFound("Connected app");
    await recordAuditEvent(tx, { type: "oauth_consent.revoke", actorId: session.user.id, clientId: consent.clientId, from });
    await recordOrganizationConsents(tx, consent, { before: consent, after: undefined }, from);
  });
}

/**
 * Housekeeping deletes the artifacts later, because a client may have millions (S49).
 * @returns how many users' consents were revoked
 */
export async function revokeClientConsents(tx: Db, clientId: string): Promise<number> {
  const { count } = await tx.oAuthConsent.updateMany({ where: { clientId, revokedAt: null }, data: { revokedAt: new Date() } });
  // A trigger ends exchanged Grants. Other Grants are found by their consents, because no index leads from a client to its Grants
  // (S137).
  await tx.$executeRaw`UPDATE oauth_grant g SET revoked_at = now() FROM oauth_consent c
    WHERE c.client_id = ${clientId} AND g.consent_id = c.id AND g.revoked_at IS NULL`;
  return count;
}
