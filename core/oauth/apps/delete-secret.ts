import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { auditOrgOf, changeApp } from "./change-app.ts";

/**
 * Deletes an app's secret and any that a rotation left valid. The app is then public (docs/specification/oauth.md#oauth-apps, S52), so PKCE
 * is required again.
 *
 * @throws ServiceError `conflict` if there is none, `reauthentication_required`, `not_found`.
 */
export async function deleteSecret(actor: Actor, appId: string, from: RequestOrigin): Promise<void> {
  await changeApp(
    actor,
    "oauth_app.manage_security",
    appId,
    async (tx, app) => {
      if (app.secrets.length === 0) throw new ServiceError("conflict", "The app has no secret.");
      await tx.oAuthAppSecret.deleteMany({ where: { appId: app.id } });
      await tx.oAuthApp.update({
        where: { id: app.id },
        data: { isConfidential: false, isPkceRequired: true, updatedAt: new Date() },
      });
      await recordAuditEvent(tx, {
        type: "oauth_app.secret_delete",
        actorId: actorId(actor),
        orgId: auditOrgOf(app),
        clientId: app.clientId,
        data: { last4: app.secrets.map((secret) => secret.last4) },
        from,
      });
    },
    { isByOrganization: true },
  );
}
