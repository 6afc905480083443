import type { OrganizationRole } from "@keyhook/sdk";
import type { Actor } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { db } from "../../../db.ts";
import { Prisma } from "../../../generated/prisma/client.ts";
import { type Page, type PageRequest, pageBounds } from "../../page.ts";

export type Member = {
  userId: string;
  username: string;
  fullName: string;
  avatarId: string | null;
  role: OrganizationRole;
  isDisabled: boolean;
  memberSince: Date;
};

export type MemberSearch = PageRequest & {
  /** Part of a username or a full name. */
  text?: string;
  role?: OrganizationRole;
};

const SEARCH_MAX_CHARACTERS = 200;

/**
 * The members of an organization, in the order in which they joined, without their e-mail addresses, which are private. The
 * page is selected from the memberships before any user is looked up, using an index in this order (decision 043).
 * @throws ServiceError `forbidden` for callers who are not members
 */
export async function listMembers(
  actor: Actor,
  orgId: string,
  { text = "", role, ...request }: MemberSearch = {},
): Promise<Page<Member>> {
  await requirePermission(actor, "organization.list_members", { orgId }, { what: "Organization" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const conditions = [Prisma.sql`m.org_id = ${orgId}`];
  if (role) conditions.push(Prisma.sql`m.role = ${role}`);
  const pattern = likePattern(text);
  if (pattern) {
    conditions.push(
      Prisma.sql`EXISTS (SELECT FROM "user" s WHERE s.id = m.user_id AND lower(s.username || ' ' || s.full_name) LIKE ${pattern})`,
    );
  }
  const where = Prisma.join(conditions, " AND ");
  const [counted, items] = await Promise.all([
    db().$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total FROM membership m WHERE ${where}`,
    db().$queryRaw<Member[]>`
      SELECT u.id AS "userId", u.username, u.full_name AS "fullName", u.avatar_id AS "avatarId", p.role,
        u.disabled_at IS NOT NULL AS "isDisabled", p.created_at AS "memberSince"
      FROM (SELECT m.user_id, m.role, m.created_at FROM membership m WHERE ${where}
        ORDER BY m.created_at, m.user_id LIMIT ${take} OFFSET ${skip}) p
      JOIN "user" u ON u.id = p.user_id
      ORDER BY p.created_at, p.user_id`,
  ]);
  return { items, page, pageSize, total: counted[0]?.total ?? 0 };
}

/** Matches the text anywhere in a name, ignoring case. Escaped: in LIKE both % and _ are wildcards. */
function likePattern(text: string): string | undefined {
  const words = text.replaceAll("\0", "").trim().slice(0, SEARCH_MAX_CHARACTERS).toWellFormed().toLowerCase();
  return words && `%${words.replace(/[\\%_]/g, "\\$&")}%`;
}
