import type { Db } from "#core/db.ts";

/**
 * Revokes all consents to a client, in the transaction of whatever ends it: its tokens are invalid from the commit on (S49). Housekeeping
 * deletes the dead artifacts, since a client may have millions.
 *
 * @returns how many users' consents were revoked.
 */
export async function revokeClientConsents(tx: Db, clientId: string): Promise<number> {
  const live = { where: { clientId, revokedAt: null }, data: { revokedAt: new Date() } };
  const consents = await tx.oAuthConsent.updateMany(live);
  await tx.oAuthGrant.updateMany(live);
  return consents.count;
}
