import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { issueAppSecret } from "./app-secret.ts";
import { auditOrgOf, changeApp, currentSecret } from "./change-app.ts";

/** Seven days: long enough for a release, short enough to end a leaked secret. */
export const SECRET_OVERLAP_MAX_SECONDS = 7 * 24 * 60 * 60;

/**
 * Replaces an app's secret. The old one ends now or, with an overlap, that many seconds later, so that a running site can switch (S52).
 * Secrets left by earlier rotations never get a later expiry.
 *
 * @returns the new secret, shown here and never again, and when the old one ends.
 * @throws ServiceError `conflict` if the app has no secret, `invalid_request`, `reauthentication_required`, `not_found`.
 */
export async function rotateSecret(
  actor: Actor,
  appId: string,
  { overlapSeconds = 0 }: { overlapSeconds?: number },
  from: RequestOrigin,
): Promise<{ secret: string; oldSecretEndsAt: Date }> {
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > SECRET_OVERLAP_MAX_SECONDS) {
    throw new ServiceError("invalid_request", "Let the old secret work for at most 7 days.", { field: "overlapSeconds" });
  }
  return changeApp(
    actor,
    "oauth_app.manage_security",
    appId,
    async (tx, app) => {
      const old = currentSecret(app);
      if (!old) throw new ServiceError("conflict", "The app has no secret: add one instead.");

      const oldSecretEndsAt = new Date(Date.now() + overlapSeconds * 1000);
      if (overlapSeconds === 0) {
        await tx.oAuthAppSecret.deleteMany({ where: { appId: app.id } });
      } else {
        await tx.oAuthAppSecret.deleteMany({ where: { appId: app.id, expiresAt: { lte: new Date() } } });
        await tx.oAuthAppSecret.updateMany({
          where: { appId: app.id, OR: [{ expiresAt: null }, { expiresAt: { gt: oldSecretEndsAt } }] },
          data: { expiresAt: oldSecretEndsAt },
        });
      }
      const secret = await issueAppSecret(tx, app.id);
      await recordAuditEvent(tx, {
        type: "oauth_app.secret_rotate",
        actorId: actorId(actor),
        orgId: auditOrgOf(app),
        clientId: app.clientId,
        data: { oldLast4: old.last4, last4: secret.slice(-4), overlapSeconds },
        from,
      });
      return { secret, oldSecretEndsAt };
    },
    { isByOrganization: true },
  );
}
