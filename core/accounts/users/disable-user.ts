import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db, inTransaction } from "#core/db.ts";
import { conflict, notFound } from "#core/errors.ts";
import { revokeInvitationsBy } from "../organizations/invitations.ts";
import { warnOfHeldSecrets } from "../organizations/withdraw-organization.ts";
import { endAllSiteSessions } from "../sessions/end-site-session.ts";

/** See S112. Disabling a disabled user is not an error. */
export async function disableUser(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "user.disable", { userId }, { what: "User" });
  await inTransaction(async (tx) => {
    await requireOtherOperator(tx, userId);
    await requirePermission(actor, "user.disable", { userId }, { what: "User", tx });
    const { count } = await tx.user.updateMany({ where: { id: userId, disabledAt: null }, data: { disabledAt: new Date() } });
    if (count === 0) {
      if (!(await tx.user.findUnique({ where: { id: userId }, select: { id: true } }))) throw notFound("User");
      return;
    }
    await revokeEverything(tx, userId, { actor, from });
    const administers = await tx.membership.findMany({
      where: { userId, role: "admin" },
      orderBy: { orgId: "asc" },
      select: { orgId: true },
    });
    for (const { orgId } of administers) await warnOfHeldSecrets(tx, userId, orgId);
    await recordAuditEvent(tx, { type: "user.disable", actor, subjectId: userId, from });
  });
}

export async function enableUser(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "user.disable", { userId }, { what: "User" });
  await db().$transaction(async (tx) => {
    await lockOperators(tx);
    await requirePermission(actor, "user.disable", { userId }, { what: "User", tx });
    const { count } = await tx.user.updateMany({ where: { id: userId, disabledAt: { not: null } }, data: { disabledAt: null } });
    if (count === 0) {
      if (!(await tx.user.findUnique({ where: { id: userId }, select: { id: true } }))) throw notFound("User");
      return;
    }
    await recordAuditEvent(tx, { type: "user.enable", actor, subjectId: userId, from });
  });
}

/** See S113, S116. */
export async function setOperator(actor: Actor, userId: string, isOperator: boolean, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "user.set_operator", { userId }, { what: "User" });
  await db().$transaction(async (tx) => {
    if (isOperator) await lockOperators(tx);
    else await requireOtherOperator(tx, userId);
    await requirePermission(actor, "user.set_operator", { userId }, { what: "User", tx });
    const { count } = await tx.user.updateMany({ where: { id: userId }, data: { isOperator } });
    if (count === 0) throw notFound("User");
    // An operator may have invited themselves to any organization.
    if (!isOperator) await revokeInvitationsBy(tx, userId);
    await recordAuditEvent(tx, {
      type: isOperator ? "user.make_operator" : "user.unmake_operator",
      actor,
      subjectId: userId,
      from,
    });
  });
}

export async function endUserSessions(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "user.end_sessions", { userId }, { what: "User" });
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "user.end_sessions", { userId }, { what: "User", tx });
    if (!(await tx.user.findUnique({ where: { id: userId }, select: { id: true } }))) throw notFound("User");
    await endAllSiteSessions(userId, tx);
    await recordAuditEvent(tx, { type: "user.end_all_sessions", actor, subjectId: userId, from });
  });
}

/** A revoked consent ends even a token that is being issued now (S43, S112). The caller must have locked the user's row. */
export async function revokeEverything(tx: Db, userId: string, by: { actor: Actor; from: RequestOrigin }): Promise<void> {
  const revokedAt = new Date();
  await endAllSiteSessions(userId, tx);
  await tx.personalAccessToken.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt } });
  await removePublishersOf(tx, userId, by);
  await tx.oAuthConsent.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt } });
  await tx.oAuthGrant.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt } });
  // A delegation of an exchanged token depends on no consent.
  await tx.delegation.updateMany({ where: { userId, endedAt: null }, data: { endedAt: revokedAt } });
  await tx.oneTimeToken.deleteMany({ where: { userId } });
  await revokeInvitationsBy(tx, userId);
}

async function removePublishersOf(tx: Db, userId: string, by: { actor: Actor; from: RequestOrigin }): Promise<void> {
  const { username } = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true } });
  const removed = await tx.$queryRaw<{ orgId: string; count: number; repos: string[] }[]>`
    WITH removed AS (
      DELETE FROM trusted_publisher WHERE id IN (
        SELECT id FROM trusted_publisher WHERE user_id = ${userId} OR created_by_id = ${userId}
        UNION SELECT p.id FROM trusted_publisher p JOIN repo r ON r.id = p.repo_id WHERE r.owner_id = ${userId})
      RETURNING repo_id)
    SELECT o.id AS "orgId", count(*)::int AS count, array_agg(DISTINCT o.name || '/' || r.name) AS repos
    FROM removed JOIN repo r ON r.id = removed.repo_id JOIN organization o ON o.id = r.owner_id
    GROUP BY o.id ORDER BY o.id`;
  // Without a subject: if the account is enabled again, the user's security log must not name an organization's repositories (S136).
  for (const { orgId, ...data } of removed)
    await recordAuditEvent(tx, { ...by, type: "trusted_publisher.delete_all", orgId, data: { username, ...data } });
}

/**
 * If two operators disable each other at once, only one may succeed. If the user is not an operator, no operator is locked,
 * because ending an account may take long (S137).
 */
export async function requireOtherOperator(tx: Db, userId: string): Promise<void> {
  const ordinary = await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${userId} AND NOT is_operator FOR NO KEY UPDATE`;
  if (ordinary.length > 0) return;
  const operators = await lockOperators(tx);
  if (operators.length === 1 && operators[0]?.id === userId) {
    throw conflict("This is the last operator. Make another user an operator first.");
  }
}

/** Always locks in the same order. Until the transaction ends, none of the operators loses the role or is disabled. */
function lockOperators(tx: Db): Promise<{ id: string }[]> {
  return tx.$queryRaw`SELECT id FROM "user" WHERE is_operator AND disabled_at IS NULL ORDER BY id FOR NO KEY UPDATE`;
}
