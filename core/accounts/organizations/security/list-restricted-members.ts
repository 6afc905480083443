import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";
import type { Actor } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { db } from "../../../db.ts";
import { type Page, type PageRequest, pageBounds } from "../../page.ts";

export type RestrictedMember = {
  username: string;
  fullName: string;
  avatarId: string | null;
  role: OrganizationRole;
  /** The rules that they do not meet yet. */
  restrictions: SecurityRestriction[];
};

/**
 * The members who have no access to an organization's things until they meet its sign-in rules, by name.
 * @throws ServiceError `forbidden`
 */
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
