import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { revokeClientConsents } from "../consents/revoke-client-consents.ts";
import { changeApp } from "./change-app.ts";

/**
 * Blocks an app, whoever owns it, or lets it in again. A blocked app is refused everywhere from the commit on, and what people
 * had allowed it is taken back, so that nothing of it comes to life again with the block lifted: it has to ask anew (S49).
 *
 * @throws ServiceError `reauthentication_required`, `not_found`.
 */
export async function setAppBlock(actor: Actor, appId: string, isBlocked: boolean, from: RequestOrigin): Promise<void> {
  await changeApp(actor, "oauth_app.operate", appId, async (tx, { id, clientId, name, blockedAt, ownerOrgId, boundOrgId }) => {
    // A second press must not move the time of the first.
    if ((blockedAt !== null) === isBlocked) return;
    await tx.oAuthApp.update({ where: { id }, data: { blockedAt: isBlocked ? new Date() : null } });
    const ended = isBlocked ? { revokedConsents: await revokeClientConsents(tx, clientId) } : {};
    await recordAuditEvent(tx, {
      type: isBlocked ? "oauth_app.block" : "oauth_app.unblock",
      actorId: actorId(actor),
      orgId: ownerOrgId ?? boundOrgId,
      clientId,
      data: { name, ...ended },
      from,
    });
  });
}
