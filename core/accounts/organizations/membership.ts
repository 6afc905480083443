import { type OrganizationRole, organizationRoles } from "@keyhook/sdk";
import type { Db } from "#core/db.ts";
import { conflict, invalidRequest, notFound } from "#core/errors.ts";
import { lockOwner } from "../handles/find-owner.ts";

/** The full list of a user's organizations needs a limit (S138). */
export const MEMBERSHIPS_MAX_PER_USER = 500;

export async function insertMembership(tx: Db, orgId: string, userId: string, role: OrganizationRole): Promise<void> {
  // With this lock, simultaneous requests that add one user count each other's membership.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`memberships ${userId}`}, 0))`;
  if ((await tx.membership.count({ where: { userId } })) >= MEMBERSHIPS_MAX_PER_USER) {
    throw conflict(`A user can be a member of at most ${MEMBERSHIPS_MAX_PER_USER} organizations.`);
  }
  // Waits for a concurrent deletion, which would otherwise cause a foreign key error.
  if (!(await lockOwner(tx, { kind: "organization", id: orgId }))) throw notFound("Organization");
  const { count } = await tx.membership.createMany({ data: [{ orgId, userId, role }], skipDuplicates: true });
  if (count === 0) throw conflict("This user is already a member.");
}

export function parseRole(value: unknown, field = "role"): OrganizationRole {
  const role = organizationRoles.find((known) => known === value);
  if (!role) throw invalidRequest(`Choose one of ${organizationRoles.join(", ")}.`, field);
  return role;
}
