import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { replaceImage } from "../../images/replace-image.ts";
import { revokeClientConsents } from "../consents/revoke-client-consents.ts";
import { auditOrgOf, changeApp, type LockedApp } from "./change-app.ts";

/**
 * Deletes an app for good. Its consents and grants are revoked in the same transaction, which ends every token at once (S49).
 *
 * @throws ServiceError `reauthentication_required`, `not_found`.
 */
export async function deleteApp(actor: Actor, appId: string, from: RequestOrigin): Promise<void> {
  const by = { actorId: actorId(actor), from };
  await changeApp(actor, "oauth_app.manage_security", appId, (tx, app) => withdrawApp(tx, app, by));
}

/** The deletion itself, in the transaction that locks the app's row. */
export async function withdrawApp(
  tx: Db,
  app: LockedApp,
  { actorId, from }: { actorId: string | null; from: RequestOrigin },
): Promise<void> {
  const revokedConsents = await revokeClientConsents(tx, app.clientId);
  await tx.oAuthAppUsage.deleteMany({ where: { clientId: app.clientId } });
  await tx.oAuthAppActiveUser.deleteMany({ where: { clientId: app.clientId } });
  await replaceImage(tx, app.logoId, null);
  await tx.oAuthApp.delete({ where: { id: app.id } });
  await recordAuditEvent(tx, {
    type: "oauth_app.delete",
    actorId,
    orgId: auditOrgOf(app),
    clientId: app.clientId,
    data: { name: app.name, revokedConsents },
    from,
  });
}
