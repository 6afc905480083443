import type { Db } from "#core/db.ts";

/**
 * Takes back, in the transaction of whatever ends a client, what everybody has allowed it: its tokens are dead with the commit
 * (S49). The dead artifacts themselves go with housekeeping, since a client may have millions.
 *
 * @returns how many people that were.
 */
export async function revokeClientConsents(tx: Db, clientId: string): Promise<number> {
  const live = { where: { clientId, revokedAt: null }, data: { revokedAt: new Date() } };
  const consents = await tx.oAuthConsent.updateMany(live);
  await tx.oAuthGrant.updateMany(live);
  return consents.count;
}
