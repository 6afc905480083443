import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { changeApp, isOfOwner } from "./change-app.ts";

/**
 * Ends the binding of an app, with all that was exchanged under it (S95). Whoever owns the app may do it, and any administrator of the
 * organization. The privilege was for this organization and goes with it.
 *
 * @throws ServiceError `conflict` for an app that is bound to none, `reauthentication_required`, `not_found`.
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
