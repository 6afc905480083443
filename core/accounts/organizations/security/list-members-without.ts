import type { OrganizationRole } from "@keyhook/sdk";
import type { Actor } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { db } from "../../../db.ts";
import { Prisma } from "../../../generated/prisma/client.ts";
import { organizationSlug } from "../../identity-providers/identity-provider.ts";
import { type Page, type PageRequest, pageBounds } from "../../page.ts";

export const securityRules = ["second-step", "provider"] as const;
export type SecurityRule = (typeof securityRules)[number];

export type MemberWithout = { username: string; fullName: string; avatarId: string | null; role: OrganizationRole };

/**
 * The members whom a rule would exclude, whether or not it is in force, by name: whom to talk to before enabling it.
 * @throws ServiceError `forbidden`
 */
export async function listMembersWithout(
  actor: Actor,
  orgId: string,
  rule: SecurityRule,
  request: PageRequest = {},
): Promise<Page<MemberWithout>> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const members = Prisma.sql`
    FROM membership m JOIN "user" u ON u.id = m.user_id
   WHERE m.org_id = ${orgId} AND ${lacks(rule, orgId)}`;
  const [counted, items] = await Promise.all([
    db().$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${members}`,
    db().$queryRaw<MemberWithout[]>`
      SELECT u.username, u.full_name AS "fullName", u.avatar_id AS "avatarId", m.role ${members}
       ORDER BY lower(u.username), u.id LIMIT ${take} OFFSET ${skip}`,
  ]);
  return { items, page, pageSize, total: counted[0]?.total ?? 0 };
}

/** The same condition as in the view `member_standing`. */
function lacks(rule: SecurityRule, orgId: string): Prisma.Sql {
  if (rule === "second-step") {
    return Prisma.sql`NOT EXISTS (SELECT 1 FROM passkey p WHERE p.user_id = m.user_id)
      AND NOT EXISTS (SELECT 1 FROM totp t WHERE t.user_id = m.user_id AND t.confirmed_at IS NOT NULL)`;
  }
  return Prisma.sql`NOT EXISTS (
    SELECT 1 FROM linked_identity i
     WHERE i.user_id = m.user_id AND i.last_used_at > now() - interval '7 days'
       AND i.provider_id = (SELECT id FROM identity_provider WHERE slug = ${organizationSlug(orgId)}))`;
}
