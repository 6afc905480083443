import type { OrganizationRole } from "@keyhook/sdk";
import type { Actor } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { db } from "../../../db.ts";
import { type Page, type PageRequest, pageBounds } from "../../page.ts";

export type Member = {
  userId: string;
  username: string;
  fullName: string;
  avatarId: string | null;
  role: OrganizationRole;
  isDisabled: boolean;
  memberSince: Date;
};

/**
 * The members of an organization, in the order in which they joined; without e-mail addresses, which members need not share.
 * @throws ServiceError `forbidden` for those who are not members
 */
export async function listMembers(actor: Actor, orgId: string, request: PageRequest = {}): Promise<Page<Member>> {
  await requirePermission(actor, "organization.list_members", { orgId }, { what: "Organization" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const [total, rows] = await Promise.all([
    db().membership.count({ where: { orgId } }),
    db().membership.findMany({
      where: { orgId },
      orderBy: [{ createdAt: "asc" }, { userId: "asc" }],
      skip,
      take,
      select: {
        role: true,
        createdAt: true,
        user: { select: { id: true, username: true, fullName: true, avatarId: true, disabledAt: true } },
      },
    }),
  ]);
  const items = rows.map(({ role, createdAt, user }) => ({
    userId: user.id,
    username: user.username,
    fullName: user.fullName,
    avatarId: user.avatarId,
    role: role as OrganizationRole,
    isDisabled: user.disabledAt !== null,
    memberSince: createdAt,
  }));
  return { items, page, pageSize, total };
}
