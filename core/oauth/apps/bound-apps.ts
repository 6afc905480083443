import type { Actor, Person } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { organizationsOf } from "#core/access/organizations-of.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { conflict, invalidRequest, notFound } from "#core/errors.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { ACCESS_TOKEN_MAX_SECONDS } from "../lifetimes.ts";
import { actsAsOwner, changeApp } from "./change-app.ts";

/**
 * Afterwards only the organization's administrators decide about secret, keys, scopes and token duration
 * (docs/specification/oauth.md#oauth-apps).
 */
export async function bindApp(actor: Actor, appId: string, orgId: string, from: RequestOrigin): Promise<void> {
  await changeApp(actor, { appId, action: "oauth_app.manage_security", from }, async (tx, app, record) => {
    await requirePermission(
      actor,
      "oauth_app.manage_security",
      { ownerUserId: null, ownerOrgId: orgId },
      { what: "Organization", tx },
    );
    const organization = await tx.organization.findUnique({ where: { id: orgId }, select: { name: true } });
    if (!organization) throw notFound("Organization");
    if (app.boundOrgId === orgId) return;
    if (app.boundOrgId) throw conflict("The app is bound to another organization. Unbind it first.");
    if (app.ownerOrgId && app.ownerOrgId !== orgId) {
      throw invalidRequest("An organization's app can only be bound to that organization.", "orgId");
    }
    await tx.oAuthApp.update({ where: { id: app.id }, data: { boundOrgId: orgId, privileges: [], updatedAt: new Date() } });
    await record({ type: "oauth_app.bind", orgId, data: { name: app.name, organization: organization.name } });
  });
}

/** The privilege was granted for this organization, so it ends too (S95). */
export async function unbindApp(actor: Actor, appId: string, from: RequestOrigin): Promise<void> {
  const isOwner = await actsAsOwner(actor, appId);
  await changeApp(
    actor,
    { appId, action: "oauth_app.manage_security", isOverMembers: !isOwner, from },
    async (tx, app, record) => {
      if (!app.boundOrgId) throw conflict("The app is not bound to an organization.");
      await tx.oAuthApp.update({
        where: { id: app.id },
        data: { boundOrgId: null, privileges: [], privilegeRequestedAt: null, accessTokenSeconds: null, updatedAt: new Date() },
      });
      await record({ type: "oauth_app.unbind", data: { name: app.name } });
    },
  );
}

/** See docs/specification/oauth.md#oauth-apps. */
const TOKEN_DURATION_MIN_SECONDS = 60 * 60;
const TOKEN_DURATION_MAX_SECONDS = ACCESS_TOKEN_MAX_SECONDS;

/** Tokens that were already issued keep their expiry (S97). */
export async function setTokenDuration(actor: Actor, appId: string, seconds: number, from: RequestOrigin): Promise<void> {
  if (!Number.isInteger(seconds) || seconds < TOKEN_DURATION_MIN_SECONDS || seconds > TOKEN_DURATION_MAX_SECONDS) {
    throw invalidRequest("Enter a duration from 1 hour to 720 hours (30 days).", "tokenHours");
  }
  await changeApp(actor, { appId, action: "oauth_app.manage_security", isOverMembers: true, from }, async (tx, app, record) => {
    if (!app.boundOrgId) throw conflict("Bind the app to an organization first.");
    if (app.accessTokenSeconds === seconds) return;
    await tx.oAuthApp.update({ where: { id: app.id }, data: { accessTokenSeconds: seconds, updatedAt: new Date() } });
    await record({ type: "oauth_app.set_token_duration", data: { before: app.accessTokenSeconds, after: seconds } });
  });
}

const ORGANIZATIONS_MAX = 100;

export async function listBindable(
  person: Person,
  {
    ownerUserId,
    ownerOrgId,
    boundOrgId,
    isFirstParty,
  }: Pick<OAuthApp, "ownerUserId" | "ownerOrgId" | "boundOrgId" | "isFirstParty">,
): Promise<{ id: string; name: string; fullName: string }[]> {
  if (boundOrgId || isFirstParty || (ownerUserId !== person.userId && !ownerOrgId)) return [];
  const administered = await organizationsOf(person, "oauth_app.manage_security");
  return db().organization.findMany({
    where: { id: { in: administered.filter((id) => !ownerOrgId || id === ownerOrgId) } },
    select: { id: true, name: true, fullName: true },
    orderBy: { name: "asc" },
    take: ORGANIZATIONS_MAX,
  });
}
