import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { type Page, type PageRequest, pageBounds } from "../page.ts";
import type { OrganizationPlan } from "./plans.ts";

export type OrganizationSearch = PageRequest & {
  /** Part of a name. */
  text?: string;
  /** `none` for organizations without a plan. */
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
  /** Apps that may exchange tokens for it. */
  exchangeAppCount: number;
  /** Contact addresses: the one that it gives, and its first administrator's. */
  email: string | null;
  admin: { username: string; email: string } | null;
};

/**
 * Every organization of the installation, newest first, for its operators.
 * @throws ServiceError `forbidden`
 */
export async function listAllOrganizations(
  actor: Actor,
  { text = "", plan, ...request }: OrganizationSearch = {},
): Promise<Page<ListedOrganization>> {
  await requirePermission(actor, "installation.operate", null, { what: "Organizations" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const conditions = [Prisma.sql`TRUE`];
  const words = text.replaceAll("\0", "").trim().toWellFormed().toLowerCase();
  // Escaped: in LIKE both % and _ are wildcards.
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
