import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { db } from "../../db.ts";
import type { OAuthApp, Prisma } from "../../generated/prisma/client.ts";
import { countUsers, type ListedApp } from "./list-apps.ts";
import { TOKEN_EXCHANGE } from "./privilege.ts";

export const appStates = ["verified", "blocked", "self_registered", "token_exchange", "asks_token_exchange"] as const;
export type AppState = (typeof appStates)[number];

export type AppSearch = PageRequest & {
  /** Part of a name or of an owner's handle, or a complete client ID. */
  text?: string;
  state?: AppState;
};

export type OwnedApp = ListedApp & {
  /** Null for an app that comes with the service or registered itself. */
  owner: { handle: string; isOrganization: boolean } | null;
  /** The handle of the organization to which it is bound, for token exchange. */
  boundTo: string | null;
};

const PAGE_SIZE = 20;
/** At most this many owners are searched for by part of their handle. */
const OWNERS_MAX = 200;

const stateWhere: Record<AppState, Prisma.OAuthAppWhereInput> = {
  verified: { verifiedAt: { not: null } },
  blocked: { blockedAt: { not: null } },
  token_exchange: { privileges: { has: TOKEN_EXCHANGE } },
  asks_token_exchange: { privilegeRequestedAt: { not: null } },
  self_registered: { registrationTokenHash: { not: null } },
};

/**
 * All OAuth apps of the installation, newest first, for its operators.
 *
 * @throws ServiceError `forbidden`.
 */
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
  // Escaped: in LIKE, both are wildcards.
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
