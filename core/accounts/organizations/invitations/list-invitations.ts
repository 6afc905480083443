import type { OrganizationRole } from "@keyhook/sdk";
import type { Actor } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { db } from "../../../db.ts";
import { type Page, type PageRequest, pageBounds } from "../../page.ts";

export type OpenInvitation = {
  id: string;
  email: string;
  role: OrganizationRole;
  createdAt: Date;
  expiresAt: Date;
  isExpired: boolean;
};

/** The invitations that are neither accepted nor revoked, the newest first. Expired ones are included, since they can be sent again. */
export async function listInvitations(actor: Actor, orgId: string, request: PageRequest = {}): Promise<Page<OpenInvitation>> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const where = { orgId, acceptedAt: null, revokedAt: null };
  const { page, pageSize, skip, take } = pageBounds(request);
  const [total, rows] = await Promise.all([
    db().invitation.count({ where }),
    db().invitation.findMany({
      where,
      orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      skip,
      take,
      select: { id: true, email: true, role: true, createdAt: true, expiresAt: true },
    }),
  ]);
  const now = Date.now();
  const items = rows.map((row) => ({
    ...row,
    role: row.role as OrganizationRole,
    isExpired: row.expiresAt.getTime() <= now,
  }));
  return { items, page, pageSize, total };
}
