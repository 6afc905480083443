import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";
import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { db } from "#core/db.ts";
import { Prisma } from "#core/generated/prisma/client.ts";
import { organizationSlug } from "../../identity-providers/identity-provider.ts";
import { type Page, type PageRequest, pageBounds } from "../../page.ts";

export type RestrictedMember = {
  username: string;
  fullName: string;
  avatarId: string | null;
  role: OrganizationRole;
  restrictions: SecurityRestriction[];
};

export async function listRestrictedMembers(
  actor: Actor,
  orgId: string,
  request: PageRequest = {},
): Promise<Page<RestrictedMember>> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const [counted, items] = await Promise.all([
    db().$queryRaw<{ total: number }[]>`
      SELECT count(*)::int AS total FROM member_standing WHERE org_id = ${orgId} AND cardinality(restrictions) > 0`,
    db().$queryRaw<RestrictedMember[]>`
      SELECT u.username, u.full_name AS "fullName", u.avatar_id AS "avatarId", s.role, s.restrictions
        FROM member_standing s JOIN "user" u ON u.id = s.user_id
       WHERE s.org_id = ${orgId} AND cardinality(s.restrictions) > 0
       ORDER BY lower(u.username), u.id LIMIT ${take} OFFSET ${skip}`,
  ]);
  return { items, page, pageSize, total: counted[0]?.total ?? 0 };
}

export const securityRequirements = ["second-step", "provider"] as const;
type SecurityRequirement = (typeof securityRequirements)[number];

export type MemberWithout = { username: string; fullName: string; avatarId: string | null; role: OrganizationRole };

export async function listMembersWithout(
  actor: Actor,
  orgId: string,
  requirement: SecurityRequirement,
  request: PageRequest = {},
): Promise<Page<MemberWithout>> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const members = Prisma.sql`
    FROM membership m JOIN "user" u ON u.id = m.user_id
   WHERE m.org_id = ${orgId} AND ${lacks(requirement, orgId)}`;
  const [counted, items] = await Promise.all([
    db().$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${members}`,
    db().$queryRaw<MemberWithout[]>`
      SELECT u.username, u.full_name AS "fullName", u.avatar_id AS "avatarId", m.role ${members}
       ORDER BY lower(u.username), u.id LIMIT ${take} OFFSET ${skip}`,
  ]);
  return { items, page, pageSize, total: counted[0]?.total ?? 0 };
}

/** Must have the same condition as the view `member_standing`. */
function lacks(requirement: SecurityRequirement, orgId: string): Prisma.Sql {
  if (requirement === "second-step") {
    return Prisma.sql`NOT EXISTS (SELECT 1 FROM passkey p WHERE p.user_id = m.user_id)
      AND NOT EXISTS (SELECT 1 FROM totp t WHERE t.user_id = m.user_id AND t.confirmed_at IS NOT NULL)`;
  }
  return Prisma.sql`NOT EXISTS (
    SELECT 1 FROM linked_identity i
     WHERE i.user_id = m.user_id AND i.last_used_at > now() - interval '7 days'
       AND i.provider_id = (SELECT id FROM identity_provider WHERE slug = ${organizationSlug(orgId)}))`;
}

export type OwnRestriction = {
  orgId: string;
  name: string;
  fullName: string;
  restrictions: SecurityRestriction[];
  provider: { slug: string; name: string } | null;
};

const LIST_MAX_ROWS = 20;

export async function listOwnRestrictions(userId: string, orgId: string | null = null): Promise<OwnRestriction[]> {
  const rows = await db().$queryRaw<(Omit<OwnRestriction, "provider"> & { slug: string | null; providerName: string | null })[]>`
    SELECT o.id AS "orgId", o.name, o.full_name AS "fullName", s.restrictions, p.slug, p.name AS "providerName"
      FROM member_standing s
      JOIN organization o ON o.id = s.org_id
      LEFT JOIN identity_provider p ON p.id = o.required_provider_id AND p.disabled_at IS NULL
     WHERE s.user_id = ${userId} AND (${orgId}::text IS NULL OR s.org_id = ${orgId}) AND cardinality(s.restrictions) > 0
     ORDER BY lower(o.name) LIMIT ${LIST_MAX_ROWS}`;
  return rows.map(({ slug, providerName, ...row }) => ({
    ...row,
    provider: slug !== null && providerName !== null ? { slug, name: providerName } : null,
  }));
}
