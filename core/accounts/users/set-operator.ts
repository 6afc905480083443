import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { requireOtherOperator } from "./require-other-operator.ts";

/**
 * Makes a user an operator of the service, or revokes that (S116: a privilege change is in the audit log).
 * @throws ServiceError `not_found`, `reauthentication_required` (S113), `conflict` (the last operator)
 */
export async function setOperator(actor: Actor, userId: string, isOperator: boolean, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "user.set_operator", { userId }, { what: "User" });
  await db().$transaction(async (tx) => {
    if (!isOperator) await requireOtherOperator(tx, userId);
    const { count } = await tx.user.updateMany({ where: { id: userId }, data: { isOperator } });
    if (count === 0) throw notFound("User");
    await recordAuditEvent(tx, {
      type: isOperator ? "user.make_operator" : "user.unmake_operator",
      actorId: actorId(actor),
      subjectId: userId,
      from,
    });
  });
}
