import { type OrganizationRole, organizationRoles } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { may, requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";

export type OrganizationOverview = {
  members: Record<OrganizationRole, number>;
  memberCount: number;
  /** Null if the actor may not manage the organization. */
  waiting: { openInvitations: number; expiredInvitations: number; appRequests: number; restrictedMembers: number } | null;
};

const RESTRICTED_MAX = 1000;

export async function readOverview(actor: Actor, orgId: string): Promise<OrganizationOverview> {
  await requirePermission(actor, "organization.read_membership", { orgId }, { what: "Organization" });
  const [rows, waiting] = await Promise.all([
    db().membership.groupBy({ by: ["role"], where: { orgId }, _count: true }),
    (await may(actor, "organization.manage", { orgId })) ? readWaiting(orgId) : null,
  ]);
  const counts = new Map(rows.map(({ role, _count }) => [role, _count]));
  const members = Object.fromEntries(organizationRoles.map((role) => [role, counts.get(role) ?? 0])) as Record<
    OrganizationRole,
    number
  >;
  return { members, memberCount: Object.values(members).reduce((sum, count) => sum + count, 0), waiting };
}

async function readWaiting(orgId: string): Promise<NonNullable<OrganizationOverview["waiting"]>> {
  const [row] = await db().$queryRaw<NonNullable<OrganizationOverview["waiting"]>[]>`
    SELECT
      (SELECT count(*)::int FROM invitation WHERE org_id = ${orgId} AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now())
        AS "openInvitations",
      (SELECT count(*)::int FROM invitation WHERE org_id = ${orgId} AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at <= now())
        AS "expiredInvitations",
      (SELECT count(DISTINCT client_id)::int FROM organization_app_request WHERE org_id = ${orgId}) AS "appRequests",
      (SELECT count(*)::int FROM (SELECT FROM member_standing s, organization o
        WHERE o.id = ${orgId} AND s.org_id = o.id AND (o.requires_second_step OR o.required_provider_id IS NOT NULL)
          AND cardinality(s.restrictions) > 0 LIMIT ${RESTRICTED_MAX}) held) AS "restrictedMembers"`;
  if (!row) throw new Error("a query without a table returned no row");
  return row;
}
