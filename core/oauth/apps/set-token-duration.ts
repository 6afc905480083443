import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { ACCESS_TOKEN_MAX_SECONDS } from "../lifetimes.ts";
import { changeApp } from "./change-app.ts";

/** docs/specification/oauth.md#oauth-apps: administrators choose between one hour and 30 days. */
export const TOKEN_DURATION_MIN_SECONDS = 60 * 60;
export const TOKEN_DURATION_MAX_SECONDS = ACCESS_TOKEN_MAX_SECONDS;

/**
 * Sets how long new tokens of an organization's app last; issued tokens keep their expiry (S97).
 *
 * @throws ServiceError `invalid_request` with the field, `conflict` for an app that is not bound, `reauthentication_required`, `not_found`.
 */
export async function setTokenDuration(actor: Actor, appId: string, seconds: number, from: RequestOrigin): Promise<void> {
  if (!Number.isInteger(seconds) || seconds < TOKEN_DURATION_MIN_SECONDS || seconds > TOKEN_DURATION_MAX_SECONDS) {
    throw new ServiceError("invalid_request", "Choose between 1 hour and 30 days (720 hours).", { field: "tokenHours" });
  }
  await changeApp(
    actor,
    "oauth_app.manage_security",
    appId,
    async (tx, app) => {
      if (!app.boundOrgId) throw new ServiceError("conflict", "Bind the app to an organization first.");
      if (app.accessTokenSeconds === seconds) return;
      await tx.oAuthApp.update({ where: { id: app.id }, data: { accessTokenSeconds: seconds, updatedAt: new Date() } });
      await recordAuditEvent(tx, {
        type: "oauth_app.set_token_duration",
        actorId: actorId(actor),
        orgId: app.boundOrgId,
        clientId: app.clientId,
        data: { before: app.accessTokenSeconds, after: seconds },
        from,
      });
    },
    { isByOrganization: true },
  );
}
