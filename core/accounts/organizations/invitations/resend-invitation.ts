import { type Actor, actorId } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { recordAuditEvent } from "../../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../../audit/request-origin.ts";
import { hashToken, newToken } from "../../../crypto/token.ts";
import { db } from "../../../db.ts";
import { notFound } from "../../../errors.ts";
import { isId } from "../../../ids.ts";
import { consumeThrottle, throttleKey } from "../../throttle.ts";
import { lockOrganization } from "../lock-organization.ts";
import { INVITATION_SECONDS } from "./create-invitation.ts";
import { mailInvitation } from "./mail-invitation.ts";

const RESEND_LIMIT = { limit: 5, windowSeconds: 24 * 60 * 60 };

/**
 * Sends an open or expired invitation again, with a new link and the full time.
 * @throws ServiceError `forbidden`, `not_found`, `rate_limited`
 */
export async function resendInvitation(actor: Actor, orgId: string, invitationId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  if (!isId(invitationId)) throw notFound("Invitation");
  await consumeThrottle(throttleKey("resend-invitation", invitationId), RESEND_LIMIT);
  const token = newToken();
  await db().$transaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization", tx });
    const [resent] = await tx.invitation.updateManyAndReturn({
      where: { id: invitationId, orgId, acceptedAt: null, revokedAt: null },
      data: { tokenHash: hashToken(token), expiresAt: new Date(Date.now() + INVITATION_SECONDS * 1000) },
      select: { email: true },
    });
    if (!resent) throw notFound("Invitation");
    await mailInvitation(tx, invitationId, token);
    await recordAuditEvent(tx, {
      type: "organization.resend_invitation",
      actorId: actorId(actor),
      orgId,
      data: { invitationId, email: resent.email },
      from,
    });
  });
}
