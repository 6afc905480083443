import type { Db } from "../../db.ts";

/**
 * Takes one organization out of everything a user has granted to apps. Every use of a token also asks whether its person is still
 * a member; this makes sure that coming back later does not revive what was granted before.
 */
export async function withdrawOrganization(tx: Db, userId: string, orgId: string): Promise<void> {
  await tx.$executeRaw`UPDATE oauth_consent SET org_ids = array_remove(org_ids, ${orgId}) WHERE user_id = ${userId} AND ${orgId} = ANY(org_ids)`;
  await tx.$executeRaw`UPDATE oauth_grant SET org_ids = array_remove(org_ids, ${orgId}) WHERE user_id = ${userId} AND ${orgId} = ANY(org_ids)`;
}
