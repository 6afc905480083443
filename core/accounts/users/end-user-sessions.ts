import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { endAllSiteSessions } from "../sessions/end-all-site-sessions.ts";

/**
 * Signs a user out everywhere, as an operator, for example after a laptop was lost. Tokens, the user's own and apps', stay;
 * disabling ends those too.
 * @throws ServiceError `not_found`, `reauthentication_required`
 */
export async function endUserSessions(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "user.end_sessions", { userId }, { what: "User" });
  await db().$transaction(async (tx) => {
    if (!(await tx.user.findUnique({ where: { id: userId }, select: { id: true } }))) throw notFound("User");
    await endAllSiteSessions(userId, tx);
    await recordAuditEvent(tx, { type: "user.end_all_sessions", actorId: actorId(actor), subjectId: userId, from });
  });
}
