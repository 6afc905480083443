import type { OrganizationRole } from "@keyhook/sdk";
import { type Actor, actorId } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { recordAuditEvent } from "../../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../../audit/request-origin.ts";
import { hashToken, newToken } from "../../../crypto/token.ts";
import { type Db, db } from "../../../db.ts";
import { ServiceError } from "../../../errors.ts";
import { newId } from "../../../ids.ts";
import { parseEmailAddress } from "../../email-address.ts";
import { consumeThrottle, throttleKey } from "../../throttle.ts";
import { lockOrganization } from "../lock-organization.ts";
import { parseRole } from "../parse-role.ts";
import { mailInvitation } from "./mail-invitation.ts";

/** How long an invitation can be accepted: 7 days, in seconds. */
export const INVITATION_SECONDS = 7 * 24 * 60 * 60;

// Each one sends a mail to an address of the sender's choice.
const INVITE_LIMIT = { limit: 100, windowSeconds: 24 * 60 * 60 };

/**
 * Invites a person by e-mail, with or without an account here. A second invitation to one address replaces the first.
 * @throws ServiceError `forbidden`, `invalid_request`, `conflict` (a member has this address), `rate_limited`
 */
export async function createInvitation(
  actor: Actor,
  orgId: string,
  input: { email: string; role: string },
  from: RequestOrigin,
): Promise<{ id: string }> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const email = parseEmailAddress(input.email);
  const role: OrganizationRole = parseRole(input.role);
  await consumeThrottle(throttleKey("invite", orgId), INVITE_LIMIT);
  const id = newId();
  const token = newToken();
  await db().$transaction(async (tx) => {
    // Checked again under the lock: an administrator who is losing the right gets their invitations revoked, and must not
    // add one after that.
    await lockOrganization(tx, orgId);
    await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization", tx });
    await refuseMember(tx, orgId, email.canonical);
    await tx.invitation.updateMany({
      where: { orgId, emailCanonical: email.canonical, acceptedAt: null, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    await tx.invitation.create({
      data: {
        id,
        orgId,
        email: email.address,
        emailCanonical: email.canonical,
        role,
        invitedById: actorId(actor),
        tokenHash: hashToken(token),
        expiresAt: new Date(Date.now() + INVITATION_SECONDS * 1000),
      },
    });
    await mailInvitation(tx, id, token);
    await recordAuditEvent(tx, {
      type: "organization.invite",
      actorId: actorId(actor),
      orgId,
      data: { invitationId: id, email: email.address, role },
      from,
    });
  });
  return { id };
}

async function refuseMember(tx: Db, orgId: string, emailCanonical: string): Promise<void> {
  const member = await tx.membership.findFirst({ where: { orgId, user: { emailCanonical } }, select: { userId: true } });
  if (member) throw new ServiceError("conflict", "Somebody with this address is a member already.", { field: "email" });
}
