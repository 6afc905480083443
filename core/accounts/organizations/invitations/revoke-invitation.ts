import { type Actor, actorId } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { recordAuditEvent } from "../../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../../audit/request-origin.ts";
import { db } from "../../../db.ts";
import { notFound } from "../../../errors.ts";
import { isId } from "../../../ids.ts";
import { lockOrganization } from "../lock-organization.ts";

/** Revokes an open invitation; its link stops working. @throws ServiceError `forbidden`, `not_found` */
export async function revokeInvitation(actor: Actor, orgId: string, invitationId: string, from: RequestOrigin): Promise<void> {
  if (!isId(invitationId)) throw notFound("Invitation");
  await db().$transaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization", tx });
    const [revoked] = await tx.invitation.updateManyAndReturn({
      where: { id: invitationId, orgId, acceptedAt: null, revokedAt: null },
      data: { revokedAt: new Date() },
      select: { email: true },
    });
    if (!revoked) throw notFound("Invitation");
    await recordAuditEvent(tx, {
      type: "organization.revoke_invitation",
      actorId: actorId(actor),
      orgId,
      data: { invitationId, email: revoked.email },
      from,
    });
  });
}
