import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction } from "../../db.ts";
import { conflict, notFound } from "../../errors.ts";
import { deleteOwnedApps } from "../delete-owned-apps.ts";
import { lockOrganization } from "../organizations/change-organization.ts";
import { warnOfHeldSecrets } from "../organizations/withdraw-organization.ts";
import { requireOtherOperator, revokeEverything } from "./disable-user.ts";

/**
 * The handle stays taken, so that nobody who trusts it ends up at a stranger's account (S139). Doors must call the hub's
 * `deleteAccount`.
 * @param deleteRest deletes what else the user owns, in this transaction
 */
export async function deleteUser(
  actor: Actor,
  userId: string,
  from: RequestOrigin,
  deleteRest?: (tx: Db) => Promise<void>,
): Promise<void> {
  await requirePermission(actor, "user.delete", { userId }, { what: "User" });
  await inTransaction(async (tx) => {
    const user = await findDeletable(tx, userId);
    await requirePermission(actor, "user.delete", { userId }, { what: "User", tx });
    await tx.$executeRaw`SELECT 1 FROM "user" WHERE id = ${userId} FOR UPDATE`;
    await revokeEverything(tx, userId, { actor, from });
    await deleteOwnedApps(tx, { ownerUserId: userId }, { actorId: actorId(actor), from });
    for (const orgId of user.administers) await warnOfHeldSecrets(tx, userId, orgId);
    await tx.personalAccessToken.deleteMany({ where: { userId } });
    await tx.oAuthConsent.deleteMany({ where: { userId } });
    await deleteRest?.(tx);
    await tx.handle.updateMany({ where: { userId }, data: { userId: null } });
    await tx.user.delete({ where: { id: userId } });
    if (user.avatarId) await tx.image.deleteMany({ where: { id: user.avatarId } });
    await recordAuditEvent(tx, { type: "user.delete", actor, subjectId: userId, data: { username: user.username }, from });
  });
}

/** @throws the error that `deleteUser` would throw now, if any */
export async function requireDeletable(actor: Actor, userId: string): Promise<void> {
  await requirePermission(actor, "user.delete", { userId }, { what: "User" });
  await inTransaction((tx) => findDeletable(tx, userId));
}

type Deletable = {
  username: string;
  avatarId: string | null;
  administers: string[];
};

async function findDeletable(tx: Db, userId: string): Promise<Deletable> {
  await requireOtherOperator(tx, userId);
  const user = await tx.user.findUnique({ where: { id: userId }, select: { username: true, avatarId: true } });
  if (!user) throw notFound("User");
  return { ...user, administers: await refuseLastAdmin(tx, userId) };
}

async function refuseLastAdmin(tx: Db, userId: string): Promise<string[]> {
  const administered = await tx.membership.findMany({
    where: { userId, role: "admin" },
    orderBy: { orgId: "asc" },
    select: { orgId: true, org: { select: { name: true } } },
  });
  for (const { orgId, org } of administered) {
    await lockOrganization(tx, orgId);
    const other = await tx.membership.findFirst({
      where: { orgId, role: "admin", userId: { not: userId }, user: { disabledAt: null } },
      select: { userId: true },
    });
    if (other) continue;
    throw conflict(
      `This is the last administrator of ${org.name}. First transfer the organization to another member, or delete it.`,
    );
  }
  return administered.map(({ orgId }) => orgId);
}
