import { isRoleAtLeast, type OrganizationRole } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { invalidRequest, ServiceError } from "../../errors.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { handedOverEmail } from "../emails/organization-emails.ts";
import { findUserByUsername } from "../users/find-user.ts";
import { changeOrganization } from "./change-organization.ts";
import { revokeInvitationsBy } from "./invitations.ts";
import { parseRole } from "./membership.ts";
import { publishersLeft, warnOfHeldSecrets, withdrawOrganization } from "./withdraw-organization.ts";

type Transfer = {
  username: string;
  afterwards: string;
};

/** Both changes are in one transaction, so that the organization never lacks an administrator (S113). */
export async function transferOrganization(
  actor: Actor,
  orgId: string,
  { username, afterwards }: Transfer,
  from: RequestOrigin,
): Promise<void> {
  const nextRole = parseNext(afterwards);
  const heir = await findUserByUsername(username);
  await changeOrganization(actor, { orgId, action: "organization.transfer", from }, async (tx, record) => {
    const ownId = actorId(actor) ?? "";
    if (heir?.id === ownId) throw invalidRequest("Choose a member other than yourself.", "username");
    const member =
      heir && !heir.disabledAt && (await tx.membership.findUnique({ where: { orgId_userId: { orgId, userId: heir.id } } }));
    if (!heir || !member) {
      throw new ServiceError("not_found", "No member of the organization has this username.", { field: "username" });
    }
    await tx.membership.update({ where: { orgId_userId: { orgId, userId: heir.id } }, data: { role: "admin" } });
    await revokeInvitationsBy(tx, ownId, orgId);
    if (nextRole) {
      await tx.membership.update({ where: { orgId_userId: { orgId, userId: ownId } }, data: { role: nextRole } });
    } else {
      await tx.membership.delete({ where: { orgId_userId: { orgId, userId: ownId } } });
      await withdrawOrganization(tx, ownId, orgId);
    }
    await warnOfHeldSecrets(tx, ownId, orgId);
    const left = nextRole && isRoleAtLeast(nextRole, "write") ? {} : await publishersLeft(tx, ownId, orgId);
    const data = { role: member.role, formerAdministrator: nextRole ?? "left", ...left };
    await record({ type: "organization.transfer", subjectId: heir.id, data });
    const { name } = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { name: true } });
    const by = await tx.user.findUniqueOrThrow({ where: { id: ownId }, select: { username: true } });
    await queueMail(tx, {
      to: heir.email,
      ...handedOverEmail({ recipientName: heir.username, by: by.username, organization: name }),
    });
  });
}

function parseNext(afterwards: string): OrganizationRole | undefined {
  if (afterwards === "leave") return undefined;
  const role = parseRole(afterwards, "afterwards");
  if (role === "admin") throw invalidRequest("To stay an administrator, change the other member's role instead.", "afterwards");
  return role;
}
