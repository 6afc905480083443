import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { changeApp } from "./change-app.ts";

/**
 * Binds an app to an organization, for which it may exchange tokens once it has the privilege (docs/specification/oauth.md#oauth-apps). An
 * organization's app is bound to that organization, a user's to one that they administer. From then on the organization's administrators
 * decide about its secret, scopes and token duration.
 *
 * @throws ServiceError `conflict` if the app is already bound, `invalid_request` for an organization that is not the app's owner,
 * `reauthentication_required`, `not_found`.
 */
export async function bindApp(actor: Actor, appId: string, orgId: string, from: RequestOrigin): Promise<void> {
  await changeApp(actor, "oauth_app.manage_security", appId, async (tx, app) => {
    await requirePermission(
      actor,
      "oauth_app.manage_security",
      { ownerUserId: null, ownerOrgId: orgId },
      { what: "Organization", tx },
    );
    const organization = await tx.organization.findUnique({ where: { id: orgId }, select: { name: true } });
    if (!organization) throw notFound("Organization");
    if (app.boundOrgId === orgId) return;
    if (app.boundOrgId) throw new ServiceError("conflict", "The app is bound to another organization: unbind it first.");
    if (app.ownerOrgId && app.ownerOrgId !== orgId) {
      throw new ServiceError("invalid_request", "An organization's app can be bound to that organization only.", {
        field: "orgId",
      });
    }
    await tx.oAuthApp.update({ where: { id: app.id }, data: { boundOrgId: orgId, privileges: [], updatedAt: new Date() } });
    await recordAuditEvent(tx, {
      type: "oauth_app.bind",
      actorId: actorId(actor),
      orgId,
      clientId: app.clientId,
      data: { name: app.name, organization: organization.name },
      from,
    });
  });
}
