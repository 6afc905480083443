import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { deleteOwnedApps } from "../delete-owned-apps.ts";
import { organizationDeletedEmail } from "../emails/organization-emails.ts";

const RECIPIENTS_MAX = 20;

/**
 * The audit log and the handle stay (decision 043, S113). Doors must call the hub's `deleteOrganization`.
 * @param deleteRest deletes what else the organization owns, in this transaction, and returns how much
 */
export async function removeOrganization(
  actor: Actor,
  orgId: string,
  from: RequestOrigin,
  deleteRest: (tx: Db) => Promise<Record<string, number>>,
): Promise<void> {
  await requirePermission(actor, "organization.delete", { orgId }, { what: "Organization" });
  if (!isId(orgId)) throw notFound("Organization");
  await inTransaction(
    async (tx) => {
      // Requests that join the organization or create something in it also lock this row, so they wait.
      const locked = await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${orgId} FOR UPDATE`;
      if (locked.length === 0) throw notFound("Organization");
      await requirePermission(actor, "organization.delete", { orgId }, { what: "Organization", tx });
      const { name, avatarId } = await tx.organization.findUniqueOrThrow({
        where: { id: orgId },
        select: { name: true, avatarId: true },
      });
      await notifyAdministrators(tx, { orgId, name, by: actorId(actor) });
      const members = await tx.membership.count({ where: { orgId } });
      const apps = await endApps(tx, orgId, { actorId: actorId(actor), from });
      const owned = await deleteRest(tx);
      await tx.handle.updateMany({ where: { orgId }, data: { orgId: null } });
      await tx.organization.delete({ where: { id: orgId } });
      if (avatarId) await tx.image.deleteMany({ where: { id: avatarId } });
      await recordAuditEvent(tx, { type: "organization.delete", actor, orgId, data: { name, members, apps, ...owned }, from });
    },
    { timeout: DELETION_MS },
  );
}

const DELETION_MS = 5 * 60 * 1000;

async function endApps(tx: Db, orgId: string, by: { actorId: string | null; from: RequestOrigin }): Promise<number> {
  const apps = await deleteOwnedApps(tx, { ownerOrgId: orgId }, by);
  const bound = await tx.oAuthApp.updateManyAndReturn({
    where: { boundOrgId: orgId },
    // The privilege and the token duration were granted for this organization only.
    data: { boundOrgId: null, privileges: [], privilegeRequestedAt: null, accessTokenSeconds: null },
    select: { clientId: true },
  });
  for (const { clientId } of bound) await tx.$executeRaw`SELECT pg_notify('oauth_app', ${clientId})`;
  await tx.$executeRaw`UPDATE oauth_grant SET revoked_at = now() WHERE bound_org_id = ${orgId} AND revoked_at IS NULL`;
  // Consents are locked before their Grants, as everywhere, to avoid deadlocks.
  await tx.$executeRaw`
    UPDATE oauth_consent c SET org_ids = array_remove(c.org_ids, ${orgId}), declined_org_ids = array_remove(c.declined_org_ids, ${orgId})
    FROM membership m WHERE m.org_id = ${orgId} AND c.user_id = m.user_id
      AND (${orgId} = ANY (c.org_ids) OR ${orgId} = ANY (c.declined_org_ids))`;
  await tx.$executeRaw`
    UPDATE oauth_grant g SET org_ids = array_remove(g.org_ids, ${orgId}) FROM oauth_consent c, membership m
    WHERE m.org_id = ${orgId} AND c.user_id = m.user_id AND g.consent_id = c.id AND ${orgId} = ANY (g.org_ids)`;
  return apps;
}

async function notifyAdministrators(
  tx: Db,
  { orgId, name, by }: { orgId: string; name: string; by: string | null },
): Promise<void> {
  const admins = await tx.membership.findMany({
    where: { orgId, role: "admin", user: { disabledAt: null, emailVerifiedAt: { not: null } } },
    orderBy: { createdAt: "asc" },
    take: RECIPIENTS_MAX,
    select: { user: { select: { username: true, email: true } } },
  });
  const deleter = by ? await tx.user.findUnique({ where: { id: by }, select: { username: true } }) : null;
  for (const { user } of admins) {
    const message = organizationDeletedEmail({ recipientName: user.username, organization: name, by: deleter?.username });
    await queueMail(tx, { to: user.email, ...message });
  }
}
