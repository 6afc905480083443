import type { Person } from "#core/access/actor.ts";
import { db } from "#core/db.ts";

/** Whether a user has an unanswered request that an app be allowed. */
export async function hasAskedForApp({ userId }: Person, orgId: string, clientId: string): Promise<boolean> {
  const key = { orgId_clientId_userId: { orgId, clientId, userId } };
  return (await db().organizationAppRequest.findUnique({ where: key, select: { orgId: true } })) !== null;
}
