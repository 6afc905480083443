import type { OrganizationRole } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { type Page, type PageRequest, pageBounds } from "../page.ts";
import { MEMBERSHIPS_MAX_PER_USER } from "./membership.ts";
import type { OrganizationPlan } from "./plans.ts";

export type Organization = {
  id: string;
  name: string;
  fullName: string;
  email: string | null;
  website: string | null;
  plan: OrganizationPlan | null;
  avatarId: string | null;
  createdAt: Date;
};

const organizationColumns = {
  id: true,
  name: true,
  fullName: true,
  email: true,
  website: true,
  plan: true,
  avatarId: true,
  createdAt: true,
} as const;

export async function findOrganization(id: string): Promise<Organization | undefined> {
  if (!isId(id)) return undefined;
  const row = await db().organization.findUnique({ where: { id }, select: organizationColumns });
  return (row ?? undefined) as Organization | undefined;
}

export async function findOrganizationByName(name: string): Promise<Organization | undefined> {
  if (typeof name !== "string" || name.includes("\0")) return undefined;
  const row = await db().handle.findUnique({ where: { handle: name.toLowerCase() }, select: { orgId: true } });
  return row?.orgId ? findOrganization(row.orgId) : undefined;
}

export type OrganizationOfUser = Organization & { role: OrganizationRole };

export async function listOrganizations(userId: string, tx: Db = db()): Promise<OrganizationOfUser[]> {
  const memberships = await tx.membership.findMany({
    where: { userId },
    select: { role: true, org: { select: organizationColumns } },
    orderBy: { org: { name: "asc" } },
    take: MEMBERSHIPS_MAX_PER_USER,
  });
  return memberships.map(({ role, org }) => ({ ...org, role }) as OrganizationOfUser);
}

const MAX = 20;

/** Lists at most 20 organizations that would have no administrator without this user. */
export async function listSoleAdministrations(userId: string): Promise<{ name: string; fullName: string }[]> {
  return db().$queryRaw`
    SELECT o.name, o.full_name AS "fullName" FROM membership m JOIN organization o ON o.id = m.org_id
    WHERE m.user_id = ${userId} AND m.role = 'admin'
      AND NOT EXISTS (SELECT FROM membership other JOIN "user" u ON u.id = other.user_id
        WHERE other.org_id = m.org_id AND other.role = 'admin' AND other.user_id <> m.user_id AND u.disabled_at IS NULL)
    ORDER BY o.name LIMIT ${MAX}`;
}

type OrganizationSearch = PageRequest & {
  text?: string;
  plan?: OrganizationPlan | "none";
};

export type ListedOrganization = {
  id: string;
  name: string;
  fullName: string;
  avatarId: string | null;
  plan: OrganizationPlan | null;
  createdAt: Date;
  memberCount: number;
  exchangeAppCount: number;
  email: string | null;
  admin: { username: string; email: string } | null;
};

export async function listAllOrganizations(
  actor: Actor,
  { text = "", plan, ...request }: OrganizationSearch = {},
): Promise<Page<ListedOrganization>> {
  await requirePermission(actor, "installation.operate", null, { what: "Organizations" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const conditions = [Prisma.sql`TRUE`];
  const words = text.replaceAll("\0", "").trim().toWellFormed().toLowerCase();
  if (words) conditions.push(Prisma.sql`lower(o.name || ' ' || o.full_name) LIKE ${`%${words.replace(/[\\%_]/g, "\\$&")}%`}`);
  if (plan) conditions.push(plan === "none" ? Prisma.sql`o.plan IS NULL` : Prisma.sql`o.plan = ${plan}`);
  const where = Prisma.join(conditions, " AND ");
  const [counted, rows] = await Promise.all([
    db().$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total FROM organization o WHERE ${where}`,
    db().$queryRaw<ListedOrganization[]>`
      SELECT p.*, a.admin,
        (SELECT count(*)::int FROM membership m WHERE m.org_id = p.id) AS "memberCount",
        (SELECT count(*)::int FROM oauth_app x WHERE x.bound_org_id = p.id AND 'token-exchange' = ANY (x.privileges)) AS "exchangeAppCount"
      FROM (SELECT o.id, o.name, o.full_name AS "fullName", o.avatar_id AS "avatarId", o.plan, o.email, o.created_at AS "createdAt"
        FROM organization o WHERE ${where} ORDER BY o.created_at DESC, o.id DESC LIMIT ${take} OFFSET ${skip}) p
      LEFT JOIN LATERAL (SELECT json_build_object('username', u.username, 'email', u.email) AS admin
        FROM membership m JOIN "user" u ON u.id = m.user_id WHERE m.org_id = p.id AND m.role = 'admin'
        ORDER BY m.created_at, m.user_id LIMIT 1) a ON true
      ORDER BY p."createdAt" DESC, p.id DESC`,
  ]);
  return { items: rows, page, pageSize, total: counted[0]?.total ?? 0 };
}
