import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { changeApp, isOfOwner } from "./change-app.ts";

/**
 * Ends an app's binding, with everything that was exchanged under it (S95). The app's owner and any administrator of the organization may
 * do it. The privilege was for this organization and ends too.
 *
 * @throws ServiceError `conflict` for an app that is not bound, `reauthentication_required`, `not_found`.
 */
export async function unbindApp(actor: Actor, appId: string, from: RequestOrigin): Promise<void> {
  const isOwner = await isOfOwner(actor, appId);
  await changeApp(
    actor,
    "oauth_app.manage_security",
    appId,
    async (tx, app) => {
      if (!app.boundOrgId) throw new ServiceError("conflict", "The app is bound to no organization.");
      await tx.oAuthApp.update({
        where: { id: app.id },
        data: { boundOrgId: null, privileges: [], privilegeRequestedAt: null, accessTokenSeconds: null, updatedAt: new Date() },
      });
      await recordAuditEvent(tx, {
        type: "oauth_app.unbind",
        actorId: actorId(actor),
        orgId: app.boundOrgId,
        clientId: app.clientId,
        data: { name: app.name },
        from,
      });
    },
    { isByOrganization: !isOwner },
  );
}
