import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { listOrganizations, type OrganizationOfUser } from "../accounts/organizations/find-organization.ts";
import { type ListedSiteSession, listSiteSessions } from "../accounts/sessions/list-site-sessions.ts";
import { findUser, type UserProfile } from "../accounts/users/find-user.ts";
import { db } from "../db.ts";
import { notFound } from "../errors.ts";
import { type ConnectedApp, listConsents } from "../oauth/consents/list-consents.ts";

export type TokenSummary = {
  id: string;
  name: string;
  last4: string;
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
};

export type InspectedUser = {
  user: UserProfile;
  sessions: ListedSiteSession[];
  organizations: OrganizationOfUser[];
  apps: { items: ConnectedApp[]; total: number };
  tokens: { items: TokenSummary[]; total: number };
};

const LISTED_MAX = 20;

export async function inspectUser(actor: Actor, userId: string): Promise<InspectedUser> {
  await requirePermission(actor, "user.inspect", { userId }, { what: "User" });
  const user = await findUser(userId);
  if (!user) throw notFound("User");
  const live = { userId, revokedAt: null };
  const [sessions, organizations, apps, tokens, tokenCount] = await Promise.all([
    listSiteSessions(userId),
    listOrganizations(userId),
    listConsents(userId, { pageSize: LISTED_MAX }),
    db().personalAccessToken.findMany({
      where: live,
      orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      take: LISTED_MAX,
      select: { id: true, name: true, last4: true, createdAt: true, expiresAt: true, lastUsedAt: true },
    }),
    db().personalAccessToken.count({ where: live }),
  ]);
  return {
    user,
    sessions,
    organizations,
    apps: { items: apps.items, total: apps.total },
    tokens: { items: tokens, total: tokenCount },
  };
}
