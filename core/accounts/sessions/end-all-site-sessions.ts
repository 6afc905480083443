import { type Db, db } from "../../db.ts";

/** Ends every session of a user: after a password reset, and when the user is disabled (S112). */
export async function endAllSiteSessions(userId: string, tx: Db = db()): Promise<void> {
  await tx.siteSession.updateMany({ where: { userId, endedAt: null }, data: { endedAt: new Date() } });
}
