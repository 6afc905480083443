import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { revokeClientConsents } from "../consents/revoke-client-consents.ts";
import { changeApp } from "./change-app.ts";

/**
 * Blocks an app, whoever owns it, or unblocks it. From the commit on, a blocked app is refused everywhere. Its consents are revoked, so
 * that unblocking does not restore them: it has to ask again (S49).
 *
 * @throws ServiceError `reauthentication_required`, `not_found`.
 */
export async function setAppBlock(actor: Actor, appId: string, isBlocked: boolean, from: RequestOrigin): Promise<void> {
  await changeApp(actor, "oauth_app.operate", appId, async (tx, { id, clientId, name, blockedAt, ownerOrgId, boundOrgId }) => {
    // Repeating a block must not change its time.
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
