import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { auditOrgOf, changeApp } from "./change-app.ts";
import { hasKeys } from "./has-keys.ts";

/**
 * Deletes an app's keys. The app is then public, so PKCE is required again, until it gets a secret or other keys.
 *
 * @throws ServiceError `conflict` if there are none, `reauthentication_required`, `not_found`.
 */
export async function removeKeys(actor: Actor, appId: string, from: RequestOrigin): Promise<void> {
  await changeApp(
    actor,
    "oauth_app.manage_security",
    appId,
    async (tx, app) => {
      if (!hasKeys(app)) throw new ServiceError("conflict", "The app has no keys.");
      await tx.oAuthApp.update({
        where: { id: app.id },
        data: { jwks: Prisma.DbNull, jwksUri: null, isConfidential: false, isPkceRequired: true, updatedAt: new Date() },
      });
      await recordAuditEvent(tx, {
        type: "oauth_app.keys_delete",
        actorId: actorId(actor),
        orgId: auditOrgOf(app),
        clientId: app.clientId,
        data: { jwksUri: app.jwksUri },
        from,
      });
    },
    { isByOrganization: true },
  );
}
