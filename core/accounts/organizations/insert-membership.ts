import type { OrganizationRole } from "@keyhook/sdk";
import type { Db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";

/** How many organizations a user can be in: a full list of a user's organizations is thus bounded (S138). */
export const MEMBERSHIPS_MAX_PER_USER = 500;

/**
 * Inserts a membership; of two at the same time one succeeds.
 * @throws ServiceError `not_found` if the organization is gone; `conflict` if the user is already a member or in too many
 * organizations
 */
export async function insertMembership(tx: Db, orgId: string, userId: string, role: OrganizationRole): Promise<void> {
  if ((await tx.membership.count({ where: { userId } })) >= MEMBERSHIPS_MAX_PER_USER) {
    throw new ServiceError("conflict", `Nobody can be in more than ${MEMBERSHIPS_MAX_PER_USER} organizations.`);
  }
  // Locked, so that a concurrent deletion is waited for and then reported, instead of a failed foreign key.
  const held = await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${orgId} FOR KEY SHARE`;
  if (held.length === 0) throw notFound("Organization");
  const { count } = await tx.membership.createMany({ data: [{ orgId, userId, role }], skipDuplicates: true });
  if (count === 0) throw new ServiceError("conflict", "This user is a member already.");
}
