import type { OrganizationRole } from "@keyhook/sdk";
import type { Actor } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { db } from "../../../db.ts";
import { findUserByUsername } from "../../users/find-user.ts";
import type { Member } from "./list-members.ts";

/**
 * One member of an organization, by username in any spelling; undefined for non-members.
 * @throws ServiceError `forbidden` for callers who are not members
 */
export async function findMember(actor: Actor, orgId: string, username: string): Promise<Member | undefined> {
  await requirePermission(actor, "organization.list_members", { orgId }, { what: "Organization" });
  const user = await findUserByUsername(username);
  if (!user) return undefined;
  const membership = await db().membership.findUnique({ where: { orgId_userId: { orgId, userId: user.id } } });
  if (!membership) return undefined;
  return {
    userId: user.id,
    username: user.username,
    fullName: user.fullName,
    avatarId: user.avatarId,
    role: membership.role as OrganizationRole,
    isDisabled: user.disabledAt !== null,
    memberSince: membership.createdAt,
  };
}
