import type { OrganizationRole } from "@keyhook/sdk";
import { hashToken } from "../../../crypto/token.ts";
import { db } from "../../../db.ts";

export type Invitation = {
  /** Only `open` ones can be accepted. */
  state: "open" | "expired" | "accepted" | "revoked";
  orgId: string;
  /** Handle and full name of the organization. */
  organization: { name: string; fullName: string; avatarId: string | null };
  /** Where the link was sent. */
  email: string;
  role: OrganizationRole;
  /** Undefined if the operator's command invited, or the account is gone. */
  invitedBy: string | undefined;
  expiresAt: Date;
};

/**
 * The invitation of a link, for the page that asks before accepting; undefined for a link that was never sent, or was replaced
 * by a newer one. Whoever has the link received the letter, so they may learn the invitation's state.
 */
export async function findInvitation(token: string): Promise<Invitation | undefined> {
  const row = await db().invitation.findUnique({
    where: { tokenHash: hashToken(token) },
    select: {
      orgId: true,
      email: true,
      role: true,
      expiresAt: true,
      acceptedAt: true,
      revokedAt: true,
      invitedById: true,
      org: { select: { name: true, fullName: true, avatarId: true } },
    },
  });
  if (!row) return undefined;
  const { org, invitedById, role, acceptedAt, revokedAt, ...rest } = row;
  const inviter = invitedById ? await db().user.findUnique({ where: { id: invitedById }, select: { username: true } }) : null;
  const state = acceptedAt ? "accepted" : revokedAt ? "revoked" : rest.expiresAt.getTime() <= Date.now() ? "expired" : "open";
  return { ...rest, state, role: role as OrganizationRole, organization: org, invitedBy: inviter?.username };
}
