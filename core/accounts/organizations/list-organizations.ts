import type { OrganizationRole } from "@keyhook/sdk";
import { type Db, db } from "../../db.ts";
import { type Organization, organizationColumns } from "./find-organization.ts";
import { MEMBERSHIPS_MAX_PER_USER } from "./insert-membership.ts";

export type OrganizationOfUser = Organization & { role: OrganizationRole };

/** The organizations of a user with the user's roles, by name. The list is complete: a user can be in a bounded number only. */
export async function listOrganizations(userId: string, tx: Db = db()): Promise<OrganizationOfUser[]> {
  const memberships = await tx.membership.findMany({
    where: { userId },
    select: { role: true, org: { select: organizationColumns } },
    orderBy: { org: { name: "asc" } },
    take: MEMBERSHIPS_MAX_PER_USER,
  });
  return memberships.map(({ role, org }) => ({ ...org, role }) as OrganizationOfUser);
}
