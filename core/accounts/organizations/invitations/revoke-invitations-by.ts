import type { Db } from "../../../db.ts";

/**
 * Revokes the invitations of a user who may no longer invite: an administrator about to be removed must not be able to return
 * with a letter to themselves.
 */
export async function revokeInvitationsBy(tx: Db, userId: string, orgId?: string): Promise<void> {
  await tx.invitation.updateMany({
    where: { invitedById: userId, acceptedAt: null, revokedAt: null, ...(orgId ? { orgId } : {}) },
    data: { revokedAt: new Date() },
  });
}
