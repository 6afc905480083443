import type { Person } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { identityUnlinkedLetter } from "../mails/identity-letters.ts";
import { lockLiveUser } from "../users/lock-live-user.ts";
import { requireWayIn } from "./ways-in.ts";

/**
 * Unlinks an identity, unless it is the last way to sign in.
 * @throws ServiceError `reauthentication_required` (S113), `not_found` (also another user's), `conflict` for the last way in
 */
export async function unlinkIdentity(actor: Person, identityId: string, from: RequestOrigin): Promise<{ name: string }> {
  const { userId } = actor;
  await requirePermission(actor, "linked_identity.unlink", { userId }, { what: "User" });
  if (!isId(identityId)) throw notFound("Linked account");
  return db().$transaction(async (tx) => {
    // Two at once would each find the other still linked.
    await lockLiveUser(tx, userId);
    const identity = await tx.linkedIdentity.findUnique({
      where: { id: identityId, userId },
      select: { displayName: true, provider: { select: { name: true, slug: true, orgId: true, disabledAt: true } } },
    });
    if (!identity) throw notFound("Linked account");
    const { name, slug, orgId, disabledAt } = identity.provider;
    const isWayIn = orgId === null && !disabledAt;
    await tx.linkedIdentity.delete({ where: { id: identityId } });
    if (isWayIn) await requireWayIn(userId, tx);
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, email: true } });
    const displayName = identity.displayName ?? "";
    await queueMail(tx, { to: user.email, ...identityUnlinkedLetter({ ...user, provider: name, displayName, isWayIn }) });
    await recordAuditEvent(tx, {
      type: "linked_identity.unlink",
      actorId: userId,
      subjectId: userId,
      orgId,
      data: { provider: name, slug, displayName },
      from,
    });
    return { name };
  });
}
