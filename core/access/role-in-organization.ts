import type { OrganizationRole } from "@keyhook/sdk";
import { type Db, db } from "../db.ts";

/** The role of a user in an organization; undefined for everybody who is not a member. */
export async function roleInOrganization(userId: string, orgId: string, tx: Db = db()): Promise<OrganizationRole | undefined> {
  const membership = await tx.membership.findUnique({ where: { orgId_userId: { orgId, userId } }, select: { role: true } });
  return membership?.role as OrganizationRole | undefined;
}
