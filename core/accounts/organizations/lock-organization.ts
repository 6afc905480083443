import type { Db } from "../../db.ts";
import { notFound } from "../../errors.ts";

/**
 * Serializes changes to the members of one organization: if two administrators remove each other at the same time, one must
 * remain. It is the weakest lock that excludes itself: inserting a membership, whose foreign key reads the row, does not wait
 * for it.
 * @throws ServiceError `not_found`
 */
export async function lockOrganization(tx: Db, orgId: string): Promise<void> {
  const locked = await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${orgId} FOR NO KEY UPDATE`;
  if (locked.length === 0) throw notFound("Organization");
}
