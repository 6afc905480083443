import { type Actor, actorId } from "../../access/actor.ts";
import { privilegeRequestLetter } from "../../accounts/mails/privilege-letters.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { changeApp } from "./change-app.ts";
import { mailOperators } from "./mail-administrators.ts";
import { TOKEN_EXCHANGE } from "./privilege.ts";

/** Each request may send letters to all operators; an app that is bound again may ask again. */
const ASKS = { limit: 20, windowSeconds: 24 * 60 * 60 };
/** An earlier repetition is answered that the request was already made. */
const ASK_AGAIN_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Asks the operators for the privilege of token exchange: they find the app under Administration, and get a letter.
 *
 * @throws ServiceError `conflict` for an app that is not bound, has the privilege, or asked recently; `rate_limited`.
 */
export async function requestPrivilege(actor: Actor, appId: string, from: RequestOrigin): Promise<void> {
  await consumeThrottle(throttleKey("request-privilege", actorId(actor) ?? "command"), ASKS);
  await changeApp(
    actor,
    "oauth_app.manage",
    appId,
    async (tx, app) => {
      if (!app.boundOrgId) throw new ServiceError("conflict", "Bind the app to an organization first.");
      if (app.privileges.includes(TOKEN_EXCHANGE)) throw new ServiceError("conflict", "The app has the privilege already.");
      const askedAt = app.privilegeRequestedAt?.getTime() ?? 0;
      if (Date.now() - askedAt < ASK_AGAIN_MS) throw new ServiceError("conflict", "The operator has been asked already.");
      await tx.oAuthApp.update({ where: { id: app.id }, data: { privilegeRequestedAt: new Date() } });
      const organization = await tx.organization.findUniqueOrThrow({
        where: { id: app.boundOrgId },
        select: { name: true, fullName: true },
      });
      await mailOperators(tx, privilegeRequestLetter(app, organization));
      await recordAuditEvent(tx, {
        type: "oauth_app.privilege_request",
        actorId: actorId(actor),
        orgId: app.boundOrgId,
        clientId: app.clientId,
        data: { name: app.name, privilege: TOKEN_EXCHANGE },
        from,
      });
    },
    { isByOrganization: true },
  );
}
