import { isDeepStrictEqual } from "node:util";
import { type Actor, actorId } from "#core/access/actor.ts";
import { may, requirePermission } from "#core/access/may.ts";
import { membersWhoMay } from "#core/access/members-who-may.ts";
import { type NewAuditEvent, recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db, inTransaction } from "#core/db.ts";
import { notFound, ServiceError } from "#core/errors.ts";
import { type OAuthApp, type OAuthAppSecret, Prisma } from "#core/generated/prisma/client.ts";
import { isId } from "#core/ids.ts";
import { termsOf } from "../clients/client-records.ts";
import type { RegisteredMetadata } from "../registration/registration-metadata.ts";

export type LockedApp = OAuthApp & { secrets: OAuthAppSecret[] };

type AppChange = {
  appId: string;
  action: "oauth_app.manage" | "oauth_app.manage_security" | "oauth_app.operate";
  /**
   * The change gives power over members of the bound organization. An owner who has left that organization must not make it
   * (docs/specification/oauth.md#oauth-apps).
   */
  isOverMembers?: boolean;
  from: RequestOrigin;
};

type RecordEvent = (event: Pick<NewAuditEvent, "type" | "data" | "orgId" | "isRemoval">) => Promise<void>;

/**
 * Locks the app's row, so changes of one app run one after the other. An app that the actor may not manage is `not_found` (S136).
 */
export async function changeApp<Result>(
  actor: Actor,
  { appId, action, isOverMembers = false, from }: AppChange,
  change: (tx: Db, app: LockedApp, record: RecordEvent) => Promise<Result>,
): Promise<Result> {
  if (!isId(appId)) throw notFound("OAuth app");
  return inTransaction(async (tx) => {
    const [seen] = await tx.$queryRaw<
      unknown[]
    >`SELECT 1 FROM oauth_app a WHERE a.id = ${appId} AND ${visibleTo(actor)} FOR UPDATE`;
    if (!seen) throw notFound("OAuth app");
    const app = await tx.oAuthApp.findUnique({ where: { id: appId }, include: { secrets: true } });
    if (!app) throw notFound("OAuth app");
    await requireAuthority(tx, actor, action, app, isOverMembers);
    if (app.isFirstParty && action !== "oauth_app.operate") {
      throw new ServiceError("forbidden", "This app is part of the service and cannot be changed.");
    }
    const about = { actorId: actorId(actor), orgId: auditOrgOf(app), clientId: app.clientId, from };
    const result = await change(tx, app, (event) => recordAuditEvent(tx, { ...about, ...event }));
    await notifyAppChange(tx, app.clientId);
    return result;
  });
}

/**
 * An SQL condition on `oauth_app a`, so that the response time does not reveal other apps (S136). The caller must still ask
 * `may`.
 */
export function visibleTo(actor: Actor): Prisma.Sql {
  const userId = actorId(actor);
  if (actor.kind === "command" || (actor.kind === "person" && actor.isOperator)) return Prisma.sql`TRUE`;
  // Includes restricted administrators, so that the error can name the organization's requirement.
  const isAdministrator = membersWhoMay("oauth_app.read", null, { isPresent: false });
  return Prisma.sql`(a.owner_user_id = ${userId} OR EXISTS (SELECT FROM member_standing m
    WHERE m.user_id = ${userId} AND m.org_id IN (a.owner_org_id, a.bound_org_id) AND ${isAdministrator}))`;
}

async function requireAuthority(
  tx: Db,
  actor: Actor,
  action: AppChange["action"],
  app: LockedApp,
  isOverMembers: boolean,
): Promise<void> {
  const what = { what: "OAuth app", tx };
  if (!isOverMembers || !app.boundOrgId) return requirePermission(actor, action, app, what);
  const bound = boundAuthority(app.boundOrgId);
  // For an actor who may not see the app as its owner, the app does not exist (S136).
  if ((await may(actor, "oauth_app.read", app, tx)) && !(await may(actor, "oauth_app.read", bound, tx))) {
    throw new ServiceError(
      "forbidden",
      "The app is bound to an organization. Only the organization's administrators can change this.",
    );
  }
  await requirePermission(actor, action, bound, what);
}

/** The owner to check for decisions that give power over members of the bound organization. */
export const boundAuthority = (boundOrgId: string) => ({ ownerUserId: null, ownerOrgId: boundOrgId });

export async function actsAsOwner(actor: Actor, appId: string): Promise<boolean> {
  const app = isId(appId) ? await db().oAuthApp.findUnique({ where: { id: appId } }) : null;
  return app !== null && (await may(actor, "oauth_app.manage", app));
}

export const auditOrgOf = ({ ownerOrgId, boundOrgId }: Pick<OAuthApp, "ownerOrgId" | "boundOrgId">): string | null =>
  ownerOrgId ?? boundOrgId;

export function currentSecret(app: LockedApp): OAuthAppSecret | undefined {
  return app.secrets.find((secret) => secret.expiresAt === null);
}

export const isAuthenticated = (app: LockedApp): boolean => hasKeys(app) || currentSecret(app) !== undefined;

export const hasKeys = ({ jwks, jwksUri }: Pick<OAuthApp, "jwks" | "jwksUri">): boolean => jwks !== null || jwksUri !== null;

type Described = Pick<OAuthApp, "name" | "logoId" | "homepageUrl" | "redirectUris" | "isDeviceFlowAllowed"> & {
  registeredMetadata: unknown;
};

/** An operator verifies an app by these values. */
export function looksOf({ name, logoId, homepageUrl, redirectUris, isDeviceFlowAllowed, registeredMetadata }: Described) {
  const terms = termsOf((registeredMetadata ?? {}) as RegisteredMetadata);
  return { name, logoId, homepageUrl, redirectUris, isDeviceFlowAllowed, ...terms };
}

/** A verified app could otherwise take any name afterwards (S28). */
export function losesMark(before: Described & Pick<OAuthApp, "verifiedAt">, after: Described): boolean {
  return before.verifiedAt !== null && !isDeepStrictEqual(looksOf(before), looksOf(after));
}

/** Its payload is the ID of a client that every process must read again. */
export const APP_CHANGE_CHANNEL = "oauth_app";

export async function notifyAppChange(tx: Db, clientId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_notify(${APP_CHANGE_CHANNEL}, ${clientId})`;
}

export async function notifyEveryClientChange(tx: Db): Promise<void> {
  await notifyAppChange(tx, "");
}
