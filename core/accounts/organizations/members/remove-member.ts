import { type Actor, actorId } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { recordAuditEvent } from "../../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../../audit/request-origin.ts";
import { inTransaction } from "../../../db.ts";
import { notFound } from "../../../errors.ts";
import { isId } from "../../../ids.ts";
import { revokeInvitationsBy } from "../invitations/revoke-invitations-by.ts";
import { lockOrganization } from "../lock-organization.ts";
import { requireOtherAdmin } from "../require-other-admin.ts";
import { warnOfHeldSecrets } from "../warn-of-held-secrets.ts";
import { withdrawOrganization } from "../withdraw-organization.ts";

/**
 * Removes a member from an organization; members can remove themselves. The last administrator cannot be removed. What the user
 * granted to apps for this organization ends too, and does not return if they rejoin (S49).
 * @throws ServiceError `forbidden`, `not_found`, `conflict`
 */
export async function removeMember(actor: Actor, orgId: string, userId: string, from: RequestOrigin): Promise<void> {
  const isLeaving = actorId(actor) === userId;
  const action = isLeaving ? "organization.leave" : "organization.manage";
  if (!isId(userId)) throw notFound("Member");
  await inTransaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, action, { orgId }, { what: "Organization", tx });
    const membership = await tx.membership.findUnique({ where: { orgId_userId: { orgId, userId } }, select: { role: true } });
    if (!membership) throw notFound("Member");
    if (membership.role === "admin") await requireOtherAdmin(tx, orgId, userId);
    await tx.membership.delete({ where: { orgId_userId: { orgId, userId } } });
    await revokeInvitationsBy(tx, userId, orgId);
    await withdrawOrganization(tx, userId, orgId);
    await warnOfHeldSecrets(tx, userId, orgId);
    await recordAuditEvent(tx, {
      type: isLeaving ? "organization.leave" : "organization.remove_member",
      actorId: actorId(actor),
      orgId,
      subjectId: userId,
      data: { role: membership.role },
      from,
    });
  });
}
