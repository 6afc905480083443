import type { OrganizationRole } from "@keyhook/sdk";
import { hashToken } from "../../../crypto/token.ts";
import { db } from "../../../db.ts";

export type Invitation = {
  orgId: string;
  /** Handle and full name of the organization. */
  organization: { name: string; fullName: string; avatarId: string | null };
  email: string;
  role: OrganizationRole;
  /** Undefined when the operator's command invited, or the account is gone. */
  invitedBy: string | undefined;
  expiresAt: Date;
};

/** What an invitation's link is about, for the page that asks before it accepts; undefined when the link no longer works. */
export async function findInvitation(token: string): Promise<Invitation | undefined> {
  const row = await db().invitation.findUnique({
    where: { tokenHash: hashToken(token), acceptedAt: null, revokedAt: null, expiresAt: { gt: new Date() } },
    select: {
      orgId: true,
      email: true,
      role: true,
      expiresAt: true,
      invitedById: true,
      org: { select: { name: true, fullName: true, avatarId: true } },
    },
  });
  if (!row) return undefined;
  const { org, invitedById, role, ...rest } = row;
  const inviter = invitedById ? await db().user.findUnique({ where: { id: invitedById }, select: { username: true } }) : null;
  return { ...rest, role: role as OrganizationRole, organization: org, invitedBy: inviter?.username };
}
