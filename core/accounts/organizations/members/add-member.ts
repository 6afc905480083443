import { type Actor, actorId } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { recordAuditEvent } from "../../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../../audit/request-origin.ts";
import { db } from "../../../db.ts";
import { ServiceError } from "../../../errors.ts";
import { findUserByUsername } from "../../users/find-user.ts";
import { insertMembership } from "../insert-membership.ts";
import { lockOrganization } from "../lock-organization.ts";
import { parseRole } from "../parse-role.ts";

/**
 * Makes an existing user a member without asking them, which only the operator may do; administrators invite
 * (invitations/create-invitation.ts).
 * @throws ServiceError `forbidden`, `not_found`, `invalid_request`, `conflict`
 */
export async function addMember(
  actor: Actor,
  orgId: string,
  input: { username: string; role: string },
  from: RequestOrigin,
): Promise<void> {
  await requirePermission(actor, "organization.add_member", { orgId }, { what: "Organization" });
  const role = parseRole(input.role);
  const user = await findUserByUsername(input.username);
  if (!user || user.disabledAt) throw new ServiceError("not_found", "There is no such user.", { field: "username" });
  await db().$transaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, "organization.add_member", { orgId }, { what: "Organization", tx });
    await insertMembership(tx, orgId, user.id, role);
    await recordAuditEvent(tx, {
      type: "organization.add_member",
      actorId: actorId(actor),
      orgId,
      subjectId: user.id,
      data: { role },
      from,
    });
  });
}
