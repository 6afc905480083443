import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";

/** Enables a disabled user; they must sign in again, and apps must ask again. @throws ServiceError `not_found` */
export async function enableUser(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "user.disable", { userId }, { what: "User" });
  await db().$transaction(async (tx) => {
    const { count } = await tx.user.updateMany({ where: { id: userId, disabledAt: { not: null } }, data: { disabledAt: null } });
    if (count === 0) {
      if (!(await tx.user.findUnique({ where: { id: userId }, select: { id: true } }))) throw notFound("User");
      return;
    }
    await recordAuditEvent(tx, { type: "user.enable", actorId: actorId(actor), subjectId: userId, from });
  });
}
