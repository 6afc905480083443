import type { OrganizationRole } from "@keyhook/sdk";
import type { Db } from "../../../db.ts";
import { env } from "../../../env.ts";
import { queueMail } from "../../../mail/queue-mail.ts";
import { invitationLetter } from "../../mails/invitation-letter.ts";

/** Queues the letter of an invitation, the only place where the token appears. */
export async function mailInvitation(tx: Db, invitationId: string, token: string): Promise<void> {
  const { email, role, invitedById, org } = await tx.invitation.findUniqueOrThrow({
    where: { id: invitationId },
    select: { email: true, role: true, invitedById: true, org: { select: { name: true } } },
  });
  const inviter = invitedById ? await tx.user.findUnique({ where: { id: invitedById }, select: { username: true } }) : null;
  const invitedBy = inviter?.username ?? `The operator of ${env().BRAND_NAME}`;
  await queueMail(tx, {
    to: email,
    ...invitationLetter({ organization: org.name, invitedBy, role: role as OrganizationRole, token }),
  });
}
