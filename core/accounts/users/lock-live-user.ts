import type { Db } from "../../db.ts";
import { notFound } from "../../errors.ts";

/**
 * Call it before giving a user something that disabling them takes away: the two then wait for each other, so that neither
 * misses the other.
 * @throws ServiceError `not_found` for an unknown or disabled user
 */
export async function lockLiveUser(tx: Db, userId: string): Promise<void> {
  const live = await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${userId} AND disabled_at IS NULL FOR NO KEY UPDATE`;
  if (live.length === 0) throw notFound("User");
}
