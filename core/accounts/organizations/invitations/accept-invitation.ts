import type { Person } from "../../../access/actor.ts";
import { recordAuditEvent } from "../../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../../audit/request-origin.ts";
import { hashToken } from "../../../crypto/token.ts";
import { db } from "../../../db.ts";
import { ServiceError } from "../../../errors.ts";
import { insertMembership } from "../insert-membership.ts";
import { parseRole } from "../parse-role.ts";

/**
 * Accepts an invitation as the signed-in user. The link is the proof: like a link that verifies an address, it was sent only to
 * the invited mailbox, so the account may have another address. The page shows which account joins, and the audit log has both.
 * One conditional update lets only the first of parallel uses succeed.
 * @throws ServiceError `gone`; `conflict` if the user is already a member, which leaves the invitation open
 */
export async function acceptInvitation(
  actor: Person,
  token: string,
  from: RequestOrigin,
): Promise<{ orgId: string; name: string }> {
  return db().$transaction(async (tx) => {
    const now = new Date();
    // Locks the organization before the invitation, in the same order as a deletion, to avoid a deadlock.
    await tx.$queryRaw`SELECT 1 FROM organization
      WHERE id = (SELECT org_id FROM invitation WHERE token_hash = ${hashToken(token)}) FOR KEY SHARE`;
    const [accepted] = await tx.invitation.updateManyAndReturn({
      where: { tokenHash: hashToken(token), acceptedAt: null, revokedAt: null, expiresAt: { gt: now } },
      data: { acceptedAt: now },
      select: { id: true, orgId: true, email: true, role: true },
    });
    if (!accepted) throw new ServiceError("gone", "This invitation was used, taken back or is too old. Ask for a new one.");
    const { id, orgId, email, role } = accepted;
    await insertMembership(tx, orgId, actor.userId, parseRole(role));
    await recordAuditEvent(tx, {
      type: "organization.accept_invitation",
      actorId: actor.userId,
      orgId,
      subjectId: actor.userId,
      data: { invitationId: id, email, role },
      from,
    });
    const { name } = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { name: true } });
    return { orgId, name };
  });
}
