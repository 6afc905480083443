import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import { noOrigin, type RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken } from "../../crypto/token.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";

/**
 * Ends one session of a user, from the list of their sessions (S113). Another user's session gets the same response as an
 * unknown one (S136).
 * @throws ServiceError `not_found`
 */
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

/** Ends the session of a cookie: on sign-out, or when another user signs in in the same browser (S34). Unknown tokens are ignored. */
export async function endSiteSessionByToken(token: string, tx: Db = db()): Promise<void> {
  await tx.siteSession.updateMany({ where: { tokenHash: hashToken(token), endedAt: null }, data: { endedAt: new Date() } });
}
