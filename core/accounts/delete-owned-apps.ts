import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { RequestOrigin } from "../audit/request-origin.ts";
import type { Db } from "../db.ts";

export async function deleteOwnedApps(
  tx: Db,
  owner: { ownerUserId: string } | { ownerOrgId: string },
  by: { actorId: string | null; from: RequestOrigin },
): Promise<number> {
  const select = { clientId: true, logoId: true, name: true, boundOrgId: true } as const;
  const apps = await tx.oAuthApp.findMany({ where: owner, select });
  const clientIds = apps.map((app) => app.clientId);
  const ofApps = { clientId: { in: clientIds } };
  await tx.oAuthConsent.updateMany({ where: { ...ofApps, revokedAt: null }, data: { revokedAt: new Date() } });
  // Grants are found by consent, because no index has the client (S137). A trigger ends exchanged Grants, which have no consent.
  await tx.$executeRaw`UPDATE oauth_grant g SET revoked_at = now() FROM oauth_consent c
    WHERE c.client_id = ANY (${clientIds}) AND g.consent_id = c.id AND g.revoked_at IS NULL`;
  await tx.oAuthAppUsage.deleteMany({ where: ofApps });
  await tx.oAuthAppActiveUser.deleteMany({ where: ofApps });
  await tx.oAuthApp.deleteMany({ where: owner });
  // The administrators of an organization must see that an app bound to it was deleted (S116).
  for (const { clientId, name, boundOrgId: orgId } of "ownerUserId" in owner ? apps : []) {
    if (orgId) await recordAuditEvent(tx, { type: "oauth_app.delete", orgId, clientId, data: { name }, ...by });
  }
  // core/oauth caches clients in memory and listens on this channel.
  for (const { clientId } of apps) await tx.$executeRaw`SELECT pg_notify('oauth_app', ${clientId})`;
  await tx.image.deleteMany({ where: { id: { in: apps.flatMap((app) => app.logoId ?? []) } } });
  return apps.length;
}
