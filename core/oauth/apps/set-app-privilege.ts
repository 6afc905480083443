import { type Actor, actorId } from "../../access/actor.ts";
import { privilegeGrantedLetter } from "../../accounts/mails/privilege-letters.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { changeApp } from "./change-app.ts";
import { mailAdministrators } from "./mail-administrators.ts";
import type { AppPrivilege } from "./privilege.ts";

/**
 * An operator gives an app a privilege or removes it (S90). Removing it ends at once everything that was exchanged under it (S95). The
 * privilege is for the current binding: after a new binding it must be given again.
 *
 * @throws ServiceError `conflict` for an app that is not bound, `reauthentication_required`, `not_found`.
 */
export async function setAppPrivilege(
  actor: Actor,
  appId: string,
  privilege: AppPrivilege,
  isGranted: boolean,
  from: RequestOrigin,
): Promise<void> {
  await changeApp(actor, "oauth_app.operate", appId, async (tx, app) => {
    if (app.privileges.includes(privilege) === isGranted) return;
    if (isGranted && !app.boundOrgId) {
      throw new ServiceError("conflict", "The app is bound to no organization: its owner binds it on the app's page first.");
    }
    const others = app.privileges.filter((each) => each !== privilege);
    await tx.oAuthApp.update({
      where: { id: app.id },
      data: { privileges: isGranted ? [...others, privilege] : others, privilegeRequestedAt: null },
    });
    await recordAuditEvent(tx, {
      type: isGranted ? "oauth_app.privilege_grant" : "oauth_app.privilege_revoke",
      actorId: actorId(actor),
      orgId: app.boundOrgId ?? app.ownerOrgId,
      clientId: app.clientId,
      data: { name: app.name, privilege },
      from,
    });
    if (isGranted && app.privilegeRequestedAt && app.boundOrgId) {
      await mailAdministrators(tx, app.boundOrgId, (organization) => privilegeGrantedLetter(app, organization));
    }
  });
}
