import type { Db } from "../../../db.ts";

/**
 * Revokes what somebody has invited to and may no longer: an administrator who is about to go must not be able to come back
 * through a letter to themselves.
 */
export async function revokeInvitationsBy(tx: Db, userId: string, orgId?: string): Promise<void> {
  await tx.invitation.updateMany({
    where: { invitedById: userId, acceptedAt: null, revokedAt: null, ...(orgId ? { orgId } : {}) },
    data: { revokedAt: new Date() },
  });
}
