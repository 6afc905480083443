import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { endOtherSiteSessions } from "./end-other-site-sessions.ts";
import { endSiteSessionByToken } from "./end-site-session.ts";

/** Ends the session of a cookie at its user's request. Tokens that are unknown or whose session is over are ignored. */
export async function signOut(token: string, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    const live = { tokenHash: hashToken(token), endedAt: null };
    const session = await tx.siteSession.findFirst({ where: live, select: { userId: true } });
    if (!session) return;
    await endSiteSessionByToken(token, tx);
    await recordAuditEvent(tx, { type: "user.sign_out", actorId: session.userId, subjectId: session.userId, from });
  });
}

/** Ends all sessions of a user except the current one, at their request (S113). */
export async function signOutElsewhere(userId: string, keepSessionId: string, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    const sessions = await endOtherSiteSessions(userId, keepSessionId, tx);
    if (sessions === 0) return;
    await recordAuditEvent(tx, { type: "user.end_other_sessions", actorId: userId, subjectId: userId, data: { sessions }, from });
  });
}
