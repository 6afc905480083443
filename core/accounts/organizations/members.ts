import { isRoleAtLeast, type OrganizationRole } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { conflict, notFound, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { inSearch } from "../../postgres/in-search.ts";
import { type Page, type PageRequest, pageBounds } from "../page.ts";
import { findUserByUsername } from "../users/find-user.ts";
import { changeOrganization } from "./change-organization.ts";
import { revokeInvitationsBy } from "./invitations.ts";
import { insertMembership, parseRole } from "./membership.ts";
import { publishersLeft, warnOfHeldSecrets, withdrawOrganization } from "./withdraw-organization.ts";

export type Member = {
  userId: string;
  username: string;
  fullName: string;
  avatarId: string | null;
  role: OrganizationRole;
  isDisabled: boolean;
  memberSince: Date;
};

type MemberSearch = PageRequest & {
  text?: string;
  role?: OrganizationRole;
};

const SEARCH_MAX_CHARACTERS = 200;

/** An index gives the page before any user is looked up (decision 043). */
export async function listMembers(
  actor: Actor,
  orgId: string,
  { text = "", role, ...request }: MemberSearch = {},
): Promise<Page<Member>> {
  await requirePermission(actor, "organization.list_members", { orgId }, { what: "Organization" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const conditions = [Prisma.sql`m.org_id = ${orgId}`];
  if (role) conditions.push(Prisma.sql`m.role = ${role}`);
  const pattern = likePattern(text);
  if (pattern) {
    conditions.push(
      Prisma.sql`EXISTS (SELECT FROM "user" s WHERE s.id = m.user_id AND lower(s.username || ' ' || s.full_name) LIKE ${pattern})`,
    );
  }
  const where = Prisma.join(conditions, " AND ");
  const read = async (tx: Db) =>
    [
      await tx.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total FROM membership m WHERE ${where}`,
      await tx.$queryRaw<Member[]>`
        SELECT u.id AS "userId", u.username, u.full_name AS "fullName", u.avatar_id AS "avatarId", p.role,
          u.disabled_at IS NOT NULL AS "isDisabled", p.created_at AS "memberSince"
        FROM (SELECT m.user_id, m.role, m.created_at FROM membership m WHERE ${where}
          ORDER BY m.created_at, m.user_id LIMIT ${take} OFFSET ${skip}) p
        JOIN "user" u ON u.id = p.user_id
        ORDER BY p.created_at, p.user_id`,
    ] as const;
  const [counted, items] = await (pattern ? inSearch(read) : read(db()));
  return { items, page, pageSize, total: counted[0]?.total ?? 0 };
}

function likePattern(text: string): string | undefined {
  const words = text.replaceAll("\0", "").trim().slice(0, SEARCH_MAX_CHARACTERS).toWellFormed().toLowerCase();
  return words && `%${words.replace(/[\\%_]/g, "\\$&")}%`;
}

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

export async function addMember(
  actor: Actor,
  orgId: string,
  input: { username: string; role: string },
  from: RequestOrigin,
): Promise<void> {
  await requirePermission(actor, "organization.add_member", { orgId }, { what: "Organization" });
  const role = parseRole(input.role);
  const user = await findUserByUsername(input.username);
  if (!user || user.disabledAt) throw new ServiceError("not_found", "This user does not exist.", { field: "username" });
  await changeOrganization(actor, { orgId, action: "organization.add_member", from }, async (tx, record) => {
    await insertMembership(tx, orgId, user.id, role);
    await record({ type: "organization.add_member", subjectId: user.id, data: { role } });
  });
}

/** The audit log has every change of a role (S116). */
export async function changeRole(actor: Actor, orgId: string, userId: string, value: string, from: RequestOrigin): Promise<void> {
  const role = parseRole(value);
  if (!isId(userId)) throw notFound("Member");
  await changeOrganization(actor, { orgId, action: "organization.manage", from }, async (tx, record) => {
    const before = await tx.membership.findUnique({ where: { orgId_userId: { orgId, userId } }, select: { role: true } });
    if (!before) throw notFound("Member");
    if (before.role === role) return;
    if (before.role === "admin") {
      await requireOtherAdmin(tx, orgId, userId);
      await revokeInvitationsBy(tx, userId, orgId);
    }
    await tx.membership.update({ where: { orgId_userId: { orgId, userId } }, data: { role } });
    if (before.role === "admin") await warnOfHeldSecrets(tx, userId, orgId);
    const left = isRoleAtLeast(role, "write") ? {} : await publishersLeft(tx, userId, orgId);
    await record({
      type: "organization.change_role",
      subjectId: userId,
      data: { from: before.role, to: role, ...left },
      isRemoval: !isRoleAtLeast(role, before.role as OrganizationRole),
    });
  });
}

/** Access that the user granted to apps does not return if the user rejoins (S49). */
export async function removeMember(actor: Actor, orgId: string, userId: string, from: RequestOrigin): Promise<void> {
  const isLeaving = actorId(actor) === userId;
  const action = isLeaving ? "organization.leave" : "organization.manage";
  if (!isId(userId)) throw notFound("Member");
  await changeOrganization(actor, { orgId, action, from }, async (tx, record) => {
    const membership = await tx.membership.findUnique({ where: { orgId_userId: { orgId, userId } }, select: { role: true } });
    if (!membership) throw notFound("Member");
    if (membership.role === "admin") await requireOtherAdmin(tx, orgId, userId);
    await tx.membership.delete({ where: { orgId_userId: { orgId, userId } } });
    await revokeInvitationsBy(tx, userId, orgId);
    await withdrawOrganization(tx, userId, orgId);
    await warnOfHeldSecrets(tx, userId, orgId);
    await record({
      type: isLeaving ? "organization.leave" : "organization.remove_member",
      subjectId: userId,
      data: { role: membership.role, ...(await publishersLeft(tx, userId, orgId)) },
    });
  });
}

/**
 * Requires another administrator who is not disabled. Call this after `lockOrganization`, before an administrator loses the role.
 * @throws ServiceError `conflict` if there is none
 */
async function requireOtherAdmin(tx: Db, orgId: string, userId: string): Promise<void> {
  const other = await tx.membership.findFirst({
    where: { orgId, role: "admin", userId: { not: userId }, user: { disabledAt: null } },
    select: { userId: true },
  });
  if (!other) throw conflict("This is the organization's last administrator. Make another member an administrator first.");
}
