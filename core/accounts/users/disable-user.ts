import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { inTransaction } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { requireOtherOperator } from "./require-other-operator.ts";
import { revokeEverything } from "./revoke-everything.ts";

/**
 * Disables a user: all sessions and tokens end, including those of apps (S112). Name, memberships and OAuth apps are kept in
 * case they are enabled again; what was revoked does not come back. Disabling twice is not an error.
 * @throws ServiceError `not_found`, `conflict` (the last operator)
 */
export async function disableUser(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "user.disable", { userId }, { what: "User" });
  await inTransaction(async (tx) => {
    await requireOtherOperator(tx, userId);
    const { count } = await tx.user.updateMany({ where: { id: userId, disabledAt: null }, data: { disabledAt: new Date() } });
    if (count === 0) {
      if (!(await tx.user.findUnique({ where: { id: userId }, select: { id: true } }))) throw notFound("User");
      return;
    }
    await revokeEverything(tx, userId);
    await recordAuditEvent(tx, { type: "user.disable", actorId: actorId(actor), subjectId: userId, from });
  });
}
