import type { OrganizationRole } from "@keyhook/sdk";
import type { Db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";

/** How many organizations one user can be in: every list of one's organizations is whole and still bounded (S138). */
export const MEMBERSHIPS_MAX_PER_USER = 500;

/**
 * Writes a membership; of two at the same moment one wins.
 * @throws ServiceError `not_found` when the organization is gone; `conflict` when the user is a member already or in too many organizations
 */
export async function insertMembership(tx: Db, orgId: string, userId: string, role: OrganizationRole): Promise<void> {
  if ((await tx.membership.count({ where: { userId } })) >= MEMBERSHIPS_MAX_PER_USER) {
    throw new ServiceError("conflict", `Nobody can be in more than ${MEMBERSHIPS_MAX_PER_USER} organizations.`);
  }
  // Held, so that one which is being deleted is waited for and then found gone, and not a failed foreign key.
  const held = await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${orgId} FOR KEY SHARE`;
  if (held.length === 0) throw notFound("Organization");
  const { count } = await tx.membership.createMany({ data: [{ orgId, userId, role }], skipDuplicates: true });
  if (count === 0) throw new ServiceError("conflict", "This user is a member already.");
}
