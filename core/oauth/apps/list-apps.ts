import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { type Page, type PageRequest, pageBounds } from "#core/accounts/page.ts";
import { db } from "#core/db.ts";
import type { OAuthApp, Prisma } from "#core/generated/prisma/client.ts";
import { TOKEN_EXCHANGE } from "./app-privilege.ts";

export const APPS_PAGE_SIZE = 20;

export type ListedApp = OAuthApp & {
  userCount: number;
};

type AppPage = { apps: ListedApp[]; total: number; page: number; pageCount: number };

export async function listApps(
  actor: Actor,
  owner: { userId: string } | { orgId: string },
  { page = 1 }: { page?: number } = {},
): Promise<AppPage> {
  const ownership = {
    ownerUserId: "userId" in owner ? owner.userId : null,
    ownerOrgId: "orgId" in owner ? owner.orgId : null,
  };
  // An organization's administrators also manage bound apps of other owners.
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

export async function countUsers(clientIds: string[]): Promise<Map<string, number>> {
  const rows = await db().$queryRaw<{ client_id: string; users: number }[]>`
    SELECT client_id, count(DISTINCT user_id)::int AS users
      FROM oauth_consent
     WHERE client_id = ANY(${clientIds}) AND revoked_at IS NULL
     GROUP BY client_id`;
  return new Map(rows.map((row) => [row.client_id, row.users]));
}

export const appStates = ["verified", "blocked", "self_registered", "token_exchange", "asks_token_exchange"] as const;
export type AppState = (typeof appStates)[number];

type AppSearch = PageRequest & {
  text?: string;
  state?: AppState;
};

export type OwnedApp = ListedApp & {
  owner: { handle: string; isOrganization: boolean } | null;
  boundTo: string | null;
};

const PAGE_SIZE = 20;
const OWNERS_MAX = 200;

const stateWhere: Record<AppState, Prisma.OAuthAppWhereInput> = {
  verified: { verifiedAt: { not: null } },
  blocked: { blockedAt: { not: null } },
  token_exchange: { privileges: { has: TOKEN_EXCHANGE } },
  asks_token_exchange: { privilegeRequestedAt: { not: null } },
  self_registered: { registrationTokenHash: { not: null } },
};

export async function listAllApps(actor: Actor, { text = "", state, ...request }: AppSearch = {}): Promise<Page<OwnedApp>> {
  await requirePermission(actor, "installation.operate", null, { what: "OAuth apps" });
  const where = { AND: [text ? await textWhere(text) : {}, state ? stateWhere[state] : {}] };
  const { page, pageSize, skip, take } = pageBounds({ pageSize: PAGE_SIZE, ...request });
  const [total, apps] = await Promise.all([
    db().oAuthApp.count({ where }),
    db().oAuthApp.findMany({ where, orderBy: [{ createdAt: "desc" }, { id: "desc" }], skip, take }),
  ]);
  const [users, owners] = await Promise.all([countUsers(apps.map(({ clientId }) => clientId)), findOwners(apps)]);
  const items = apps.map((app) => ({
    ...app,
    userCount: users.get(app.clientId) ?? 0,
    owner: owners.get(app.ownerOrgId ?? app.ownerUserId ?? "") ?? null,
    boundTo: owners.get(app.boundOrgId ?? "")?.handle ?? null,
  }));
  return { page, pageSize, total, items };
}

async function textWhere(text: string): Promise<Prisma.OAuthAppWhereInput> {
  const contains = { contains: text.replaceAll("\0", "").replace(/[\\%_]/g, "\\$&"), mode: "insensitive" as const };
  const [users, organizations] = await Promise.all([
    db().user.findMany({ where: { username: contains }, select: { id: true }, take: OWNERS_MAX }),
    db().organization.findMany({ where: { name: contains }, select: { id: true }, take: OWNERS_MAX }),
  ]);
  return {
    OR: [
      { name: contains },
      { clientId: text.replaceAll("\0", "") },
      { ownerUserId: { in: users.map(({ id }) => id) } },
      { ownerOrgId: { in: organizations.map(({ id }) => id) } },
    ],
  };
}

async function findOwners(apps: readonly OAuthApp[]): Promise<Map<string, NonNullable<OwnedApp["owner"]>>> {
  const [users, organizations] = await Promise.all([
    db().user.findMany({
      where: { id: { in: apps.flatMap(({ ownerUserId }) => ownerUserId ?? []) } },
      select: { id: true, username: true },
    }),
    db().organization.findMany({
      where: { id: { in: apps.flatMap(({ ownerOrgId, boundOrgId }) => [ownerOrgId ?? [], boundOrgId ?? []].flat()) } },
      select: { id: true, name: true },
    }),
  ]);
  const found = new Map<string, NonNullable<OwnedApp["owner"]>>();
  for (const { id, username } of users) found.set(id, { handle: username, isOrganization: false });
  for (const { id, name } of organizations) found.set(id, { handle: name, isOrganization: true });
  return found;
}
