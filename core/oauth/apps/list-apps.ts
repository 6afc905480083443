import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import type { OAuthApp } from "../../generated/prisma/client.ts";

export const APPS_PAGE_SIZE = 20;

export type ListedApp = OAuthApp & {
  /** Users with a live consent for the app. */
  userCount: number;
};

export type AppPage = { apps: ListedApp[]; total: number; page: number; pageCount: number };

/**
 * One page, newest first, of the apps of a user or an organization; a page past the end is the last one.
 *
 * @throws ServiceError `not_found` for an owner whose apps the actor may not see.
 */
export async function listApps(
  actor: Actor,
  owner: { userId: string } | { orgId: string },
  { page = 1 }: { page?: number } = {},
): Promise<AppPage> {
  const ownership = {
    ownerUserId: "userId" in owner ? owner.userId : null,
    ownerOrgId: "orgId" in owner ? owner.orgId : null,
  };
  // Includes other owners' apps that are bound to the organization: it has a say in them.
  const where = "orgId" in owner ? { OR: [{ ownerOrgId: owner.orgId }, { boundOrgId: owner.orgId }] } : ownership;
  await requirePermission(actor, "oauth_app.read", ownership, { what: "orgId" in owner ? "Organization" : "User" });

  const total = await db().oAuthApp.count({ where });
  const pageCount = Math.max(1, Math.ceil(total / APPS_PAGE_SIZE));
  const shown = Math.min(Math.max(1, Math.trunc(page) || 1), pageCount);
  const rows = await db().oAuthApp.findMany({
    where,
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    skip: (shown - 1) * APPS_PAGE_SIZE,
    take: APPS_PAGE_SIZE,
  });
  const users = await countUsers(rows.map((row) => row.clientId));
  return { apps: rows.map((row) => ({ ...row, userCount: users.get(row.clientId) ?? 0 })), total, page: shown, pageCount };
}

/** How many users currently allow an app, by client ID. */
export async function countUsers(clientIds: string[]): Promise<Map<string, number>> {
  const rows = await db().$queryRaw<{ client_id: string; users: number }[]>`
    SELECT client_id, count(DISTINCT user_id)::int AS users
      FROM oauth_consent
     WHERE client_id = ANY(${clientIds}) AND revoked_at IS NULL
     GROUP BY client_id`;
  return new Map(rows.map((row) => [row.client_id, row.users]));
}
