import { type Actor, actorId } from "../../access/actor.ts";
import { privilegeGrantedEmail, privilegeRequestEmail } from "../../accounts/emails/app-emails.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { conflict } from "../../errors.ts";
import { revokeClientConsents } from "../consents/revoke-consent.ts";
import { changeApp } from "./change-app.ts";
import { mailAdministrators, mailOperators } from "./mail-administrators.ts";

/** See docs/specification/oauth.md#oauth-apps. */
export const appPrivileges = ["token-exchange"] as const;
export type AppPrivilege = (typeof appPrivileges)[number];

export const TOKEN_EXCHANGE: AppPrivilege = "token-exchange";

const ASKS = { limit: 20, windowSeconds: 24 * 60 * 60 };
const ASK_AGAIN_MS = 7 * 24 * 60 * 60 * 1000;

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
 * See S90, S95.
 * @param shownOrgId the organization that the operator saw. The owner may have bound the app to another one since.
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

/** Revokes the consents, so that unblocking does not restore them (S49). */
export async function setAppBlock(actor: Actor, appId: string, isBlocked: boolean, from: RequestOrigin): Promise<void> {
  await changeApp(actor, { appId, action: "oauth_app.operate", from }, async (tx, { id, clientId, name, blockedAt }, record) => {
    // A repeated block must not change the time of the first.
    if ((blockedAt !== null) === isBlocked) return;
    await tx.oAuthApp.update({ where: { id }, data: { blockedAt: isBlocked ? new Date() : null } });
    const ended = isBlocked ? { revokedConsents: await revokeClientConsents(tx, clientId) } : {};
    await record({ type: isBlocked ? "oauth_app.block" : "oauth_app.unblock", data: { name, ...ended } });
  });
}

/** @param shownAt `updatedAt` of the app that the operator saw. The owner may have changed the app since (S28). */
export async function setAppVerified(
  actor: Actor,
  appId: string,
  isVerified: boolean,
  from: RequestOrigin,
  shownAt?: string,
): Promise<void> {
  await changeApp(
    actor,
    { appId, action: "oauth_app.operate", from },
    async (tx, { id, name, verifiedAt, updatedAt }, record) => {
      if ((verifiedAt !== null) === isVerified) return;
      if (isVerified && shownAt !== undefined && updatedAt.toISOString() !== shownAt) {
        throw conflict("The app was changed in the meantime. Reload this page and review it again.");
      }
      await tx.oAuthApp.update({ where: { id }, data: { verifiedAt: isVerified ? new Date() : null } });
      await record({ type: isVerified ? "oauth_app.verify" : "oauth_app.unverify", data: { name } });
    },
  );
}
