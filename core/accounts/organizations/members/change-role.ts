import { isRoleAtLeast, type OrganizationRole } from "@keyhook/sdk";
import { type Actor, actorId } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { recordAuditEvent } from "../../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../../audit/request-origin.ts";
import { db } from "../../../db.ts";
import { notFound } from "../../../errors.ts";
import { isId } from "../../../ids.ts";
import { revokeInvitationsBy } from "../invitations/revoke-invitations-by.ts";
import { lockOrganization } from "../lock-organization.ts";
import { parseRole } from "../parse-role.ts";
import { requireOtherAdmin } from "../require-other-admin.ts";
import { warnOfHeldSecrets } from "../warn-of-held-secrets.ts";

/**
 * Changes a member's role (S116: a privilege change is in the audit log). The last administrator stays one.
 * @throws ServiceError `forbidden`, `not_found`, `invalid_request`, `conflict`
 */
export async function changeRole(actor: Actor, orgId: string, userId: string, value: string, from: RequestOrigin): Promise<void> {
  const role = parseRole(value);
  if (!isId(userId)) throw notFound("Member");
  await db().$transaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization", tx });
    const before = await tx.membership.findUnique({ where: { orgId_userId: { orgId, userId } }, select: { role: true } });
    if (!before) throw notFound("Member");
    if (before.role === role) return;
    if (before.role === "admin") {
      await requireOtherAdmin(tx, orgId, userId);
      await revokeInvitationsBy(tx, userId, orgId);
    }
    await tx.membership.update({ where: { orgId_userId: { orgId, userId } }, data: { role } });
    if (before.role === "admin") await warnOfHeldSecrets(tx, userId, orgId);
    await recordAuditEvent(tx, {
      type: "organization.change_role",
      actorId: actorId(actor),
      orgId,
      subjectId: userId,
      data: { from: before.role, to: role },
      from,
      isTakingAway: !isRoleAtLeast(role, before.role as OrganizationRole),
    });
  });
}
