import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { issueAppSecret } from "./app-secret.ts";
import { auditOrgOf, changeApp, currentSecret } from "./change-app.ts";
import { hasKeys } from "./has-keys.ts";

/**
 * Gives a public app a secret, which makes it confidential. An app has one secret; rotating creates a second.
 *
 * @returns the secret, shown here and never again.
 * @throws ServiceError `conflict` if it already has a secret or keys, `reauthentication_required`, `not_found`.
 */
export async function addSecret(actor: Actor, appId: string, from: RequestOrigin): Promise<{ secret: string }> {
  return changeApp(
    actor,
    "oauth_app.manage_security",
    appId,
    async (tx, app) => {
      if (hasKeys(app)) throw new ServiceError("conflict", "The app proves itself with its keys: remove them to use a secret.");
      if (currentSecret(app)) throw new ServiceError("conflict", "The app has a secret already: rotate it to get a new one.");
      const secret = await issueAppSecret(tx, app.id);
      await tx.oAuthApp.update({ where: { id: app.id }, data: { isConfidential: true, updatedAt: new Date() } });
      await recordAuditEvent(tx, {
        type: "oauth_app.secret_create",
        actorId: actorId(actor),
        orgId: auditOrgOf(app),
        clientId: app.clientId,
        data: { last4: secret.slice(-4) },
        from,
      });
      return { secret };
    },
    { isByOrganization: true },
  );
}
