import type { Db } from "../../db.ts";

/**
 * Removes one organization from everything that a user granted to apps. Every use of a token also checks membership; this
 * ensures that rejoining later does not revive earlier grants.
 */
export async function withdrawOrganization(tx: Db, userId: string, orgId: string): Promise<void> {
  await tx.$executeRaw`UPDATE oauth_consent SET org_ids = array_remove(org_ids, ${orgId}) WHERE user_id = ${userId} AND ${orgId} = ANY(org_ids)`;
  await tx.$executeRaw`UPDATE oauth_grant SET org_ids = array_remove(org_ids, ${orgId}) WHERE user_id = ${userId} AND ${orgId} = ANY(org_ids)`;
}
