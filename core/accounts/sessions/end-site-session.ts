import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import { noOrigin, type RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken } from "#core/crypto/token.ts";
import { type Db, db, pool } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import { isId } from "#core/ids.ts";

export async function signOut(token: string, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    const live = { tokenHash: hashToken(token), endedAt: null };
    const session = await tx.siteSession.findFirst({ where: live, select: { userId: true } });
    if (!session) return;
    await endSiteSessionByToken(token, tx);
    await recordAuditEvent(tx, { type: "user.sign_out", actorId: session.userId, subjectId: session.userId, from });
  });
}

/** See S113. */
export async function signOutElsewhere(userId: string, keepSessionId: string, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    const sessions = await endOtherSiteSessions(userId, keepSessionId, tx);
    if (sessions === 0) return;
    await recordAuditEvent(tx, { type: "user.end_other_sessions", actorId: userId, subjectId: userId, data: { sessions }, from });
  });
}

/** See S113. Another user's session is `not_found` too (S136). */
export async function endSiteSession(userId: string, sessionId: string, from: RequestOrigin = noOrigin): Promise<void> {
  if (!isId(sessionId)) throw notFound("Session");
  await db().$transaction(async (tx) => {
    const { count } = await tx.siteSession.updateMany({
      where: { id: sessionId, userId, endedAt: null },
      data: { endedAt: new Date() },
    });
    if (count === 0) throw notFound("Session");
    await recordAuditEvent(tx, { type: "user.end_session", actorId: userId, subjectId: userId, data: { sessionId }, from });
  });
}

/** For a sign-out, or when another user signs in in the same browser (S34). */
export async function endSiteSessionByToken(token: string, tx: Db = db()): Promise<void> {
  await tx.siteSession.updateMany({ where: { tokenHash: hashToken(token), endedAt: null }, data: { endedAt: new Date() } });
}

/** See S113. Returns how many sessions were ended. */
export async function endOtherSiteSessions(userId: string, keepSessionId: string, tx: Db = db()): Promise<number> {
  const { count } = await tx.siteSession.updateMany({
    where: { userId, endedAt: null, id: { not: keepSessionId } },
    data: { endedAt: new Date() },
  });
  return count;
}

/** For a password reset, or when the user is disabled (S112). */
export async function endAllSiteSessions(userId: string, tx: Db = db()): Promise<void> {
  await tx.siteSession.updateMany({ where: { userId, endedAt: null }, data: { endedAt: new Date() } });
}

/** Expired sessions grant nothing, but apps must be notified of their end. */
export async function endExpiredSiteSessions(): Promise<void> {
  await pool().query("UPDATE site_session SET ended_at = expires_at WHERE expires_at <= now() AND ended_at IS NULL");
}
