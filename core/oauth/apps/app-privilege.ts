import { type Actor, actorId } from "../../access/actor.ts";
import { privilegeGrantedEmail, privilegeRequestEmail } from "../../accounts/emails/app-emails.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { conflict } from "../../errors.ts";
import { revokeClientConsents } from "../consents/revoke-consent.ts";
import { changeApp } from "./change-app.ts";
import { mailAdministrators, mailOperators } from "./mail-administrators.ts";

/** Special rights that an operator may give to an app (docs/specification/oauth.md#oauth-apps). */
export const appPrivileges = ["token-exchange"] as const;
export type AppPrivilege = (typeof appPrivileges)[number];

export const TOKEN_EXCHANGE: AppPrivilege = "token-exchange";

/** Each request may send emails to all operators, and an app can be bound, and then request, again and again. */
const ASKS = { limit: 20, windowSeconds: 24 * 60 * 60 };
/** A request that is repeated within this time is refused as already made. */
const ASK_AGAIN_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Asks the operators for the privilege of token exchange. They get an email, and find the app under Administration.
 *
 * @throws ServiceError `conflict` for an app that is not bound, has the privilege, or asked recently; `rate_limited`.
 */
export async function requestPrivilege(actor: Actor, appId: string, from: RequestOrigin): Promise<void> {
  await consumeThrottle(throttleKey("request-privilege", actorId(actor) ?? "command"), ASKS);
  await changeApp(actor, { appId, action: "oauth_app.manage", isOverMembers: true, from }, async (tx, app, record) => {
    if (!app.boundOrgId) throw conflict("Bind the app to an organization first.");
    if (app.privileges.includes(TOKEN_EXCHANGE)) throw conflict("The app already has the privilege.");
    const askedAt = app.privilegeRequestedAt?.getTime() ?? 0;
    if (Date.now() - askedAt < ASK_AGAIN_MS) throw conflict("The privilege has already been requested.");
    await tx.oAuthApp.update({ where: { id: app.id }, data: { privilegeRequestedAt: new Date() } });
    const organization = await tx.organization.findUniqueOrThrow({
      where: { id: app.boundOrgId },
      select: { name: true, fullName: true },
    });
    await mailOperators(tx, privilegeRequestEmail(app, organization));
    await record({ type: "oauth_app.privilege_request", data: { name: app.name, privilege: TOKEN_EXCHANGE } });
  });
}

/**
 * An operator gives an app a privilege or removes it (S90). Removing it ends at once all tokens that were exchanged under it (S95). The
 * privilege is for the current binding: after a new binding it must be given again.
 *
 * @param shownOrgId the organization that the operator saw when they gave the privilege: the owner may have bound the app to another one
 * since.
 * @throws ServiceError `conflict` for an app that is not bound, or to another organization; `reauthentication_required`, `not_found`.
 */
export async function setAppPrivilege(
  actor: Actor,
  appId: string,
  privilege: AppPrivilege,
  isGranted: boolean,
  from: RequestOrigin,
  shownOrgId?: string,
): Promise<void> {
  await changeApp(actor, { appId, action: "oauth_app.operate", from }, async (tx, app, record) => {
    if (app.privileges.includes(privilege) === isGranted) return;
    if (isGranted && !app.boundOrgId) {
      throw conflict("The app is not bound to an organization. The app's owner must first bind it on the app's page.");
    }
    if (isGranted && shownOrgId !== undefined && app.boundOrgId !== shownOrgId) {
      throw conflict("The app was bound to another organization in the meantime. Reload this page and review it again.");
    }
    const others = app.privileges.filter((each) => each !== privilege);
    await tx.oAuthApp.update({
      where: { id: app.id },
      data: { privileges: isGranted ? [...others, privilege] : others, privilegeRequestedAt: null },
    });
    await record({
      type: isGranted ? "oauth_app.privilege_grant" : "oauth_app.privilege_revoke",
      data: { name: app.name, privilege },
    });
    if (isGranted && app.privilegeRequestedAt && app.boundOrgId) {
      await mailAdministrators(tx, app.boundOrgId, (organization) => privilegeGrantedEmail(app, organization));
    }
  });
}

/**
 * Blocks or unblocks an app of any owner. From the commit on, a blocked app is refused everywhere. Its consents are revoked, so that
 * unblocking does not restore them: it has to ask again (S49).
 *
 * @throws ServiceError `reauthentication_required`, `not_found`.
 */
export async function setAppBlock(actor: Actor, appId: string, isBlocked: boolean, from: RequestOrigin): Promise<void> {
  await changeApp(actor, { appId, action: "oauth_app.operate", from }, async (tx, { id, clientId, name, blockedAt }, record) => {
    // Repeating a block must not change its time.
    if ((blockedAt !== null) === isBlocked) return;
    await tx.oAuthApp.update({ where: { id }, data: { blockedAt: isBlocked ? new Date() : null } });
    const ended = isBlocked ? { revokedConsents: await revokeClientConsents(tx, clientId) } : {};
    await record({ type: isBlocked ? "oauth_app.block" : "oauth_app.unblock", data: { name, ...ended } });
  });
}

/**
 * Gives an app the mark that the operator knows who is behind it, or removes it. Users see it when they are asked for consent.
 *
 * @throws ServiceError `reauthentication_required`, `not_found`.
 */
export async function setAppVerified(actor: Actor, appId: string, isVerified: boolean, from: RequestOrigin): Promise<void> {
  await changeApp(actor, { appId, action: "oauth_app.operate", from }, async (tx, { id, name, verifiedAt }, record) => {
    if ((verifiedAt !== null) === isVerified) return;
    await tx.oAuthApp.update({ where: { id }, data: { verifiedAt: isVerified ? new Date() : null } });
    await record({ type: isVerified ? "oauth_app.verify" : "oauth_app.unverify", data: { name } });
  });
}
