import { type Db, db } from "../../db.ts";

/** Ends every session of a user except the current one (S113). @returns how many were ended */
export async function endOtherSiteSessions(userId: string, keepSessionId: string, tx: Db = db()): Promise<number> {
  const { count } = await tx.siteSession.updateMany({
    where: { userId, endedAt: null, id: { not: keepSessionId } },
    data: { endedAt: new Date() },
  });
  return count;
}
