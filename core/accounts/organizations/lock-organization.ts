import type { Db } from "../../db.ts";
import { notFound } from "../../errors.ts";

/**
 * Lets changes to the members of one organization happen one after another: two administrators who remove each other at the same
 * moment must not leave none. The lock is the weakest that excludes itself: inserting a membership, whose foreign key reads the
 * row, does not wait for it.
 * @throws ServiceError `not_found`
 */
export async function lockOrganization(tx: Db, orgId: string): Promise<void> {
  const locked = await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${orgId} FOR NO KEY UPDATE`;
  if (locked.length === 0) throw notFound("Organization");
}
