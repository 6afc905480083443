import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { changeApp } from "./change-app.ts";

/**
 * Gives an app the mark that the operator knows who is behind it, or removes it. Users see it when they are asked for consent.
 *
 * @throws ServiceError `reauthentication_required`, `not_found`.
 */
export async function setAppVerified(actor: Actor, appId: string, isVerified: boolean, from: RequestOrigin): Promise<void> {
  await changeApp(actor, "oauth_app.operate", appId, async (tx, { id, clientId, name, verifiedAt, ownerOrgId, boundOrgId }) => {
    if ((verifiedAt !== null) === isVerified) return;
    await tx.oAuthApp.update({ where: { id }, data: { verifiedAt: isVerified ? new Date() : null } });
    await recordAuditEvent(tx, {
      type: isVerified ? "oauth_app.verify" : "oauth_app.unverify",
      actorId: actorId(actor),
      orgId: ownerOrgId ?? boundOrgId,
      clientId,
      data: { name },
      from,
    });
  });
}
