import type { Person } from "../../access/actor.ts";
import { may, requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { identityLinkedLetter } from "../mails/identity-letters.ts";
import { linkIsGone } from "../one-time-tokens/one-time-token.ts";
import { useOneTimeToken } from "../one-time-tokens/use-one-time-token.ts";
import { lockLiveUser } from "../users/lock-live-user.ts";

/** Nobody needs more linked identities than this. */
const IDENTITIES_MAX = 30;

/**
 * Links a pending identity to the signed-in user, who has confirmed it and authenticated recently (S113): it is a new way to
 * sign in to their account, so they are told by mail.
 * @param token from `pendingIdentityCookie`
 * @returns where they were going
 * @throws ServiceError `reauthentication_required`, `gone`, `not_found` (an organization's issuer, and not a member),
 * `conflict`
 */
export async function linkIdentity(actor: Person, token: string, from: RequestOrigin): Promise<{ next: string; name: string }> {
  const { userId } = actor;
  await requirePermission(actor, "linked_identity.link", { userId }, { what: "User" });
  return db().$transaction(async (tx) => {
    await lockLiveUser(tx, userId);
    const { data } = await useOneTimeToken(tx, token, "pending-identity");
    const provider = await requireLiveProvider(tx, data.providerId);
    const { orgId, name } = provider;
    if (orgId !== null && !(await may(actor, "organization.read_membership", { orgId }, tx))) throw notFound("Identity provider");
    if ((await tx.linkedIdentity.count({ where: { userId } })) >= IDENTITIES_MAX) {
      throw new ServiceError("conflict", "You have linked as many accounts as can be. Unlink one first.");
    }
    await insertIdentity(tx, userId, data);
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, email: true } });
    const { displayName } = data;
    await queueMail(tx, {
      to: user.email,
      ...identityLinkedLetter({ ...user, provider: name, displayName, isWayIn: orgId === null }),
    });
    await recordAuditEvent(tx, {
      type: "linked_identity.link",
      actorId: userId,
      subjectId: userId,
      orgId,
      data: { provider: name, slug: provider.slug, displayName },
      from,
    });
    return { next: data.next, name };
  });
}

/** Locked against its removal. */
export async function requireLiveProvider(tx: Db, id: string) {
  await tx.$queryRaw`SELECT 1 FROM identity_provider WHERE id = ${id} FOR KEY SHARE`;
  const provider = await tx.identityProvider.findUnique({ where: { id, disabledAt: null } });
  if (!provider) throw linkIsGone();
  return provider;
}

type Linkable = { providerId: string; subject: string; displayName: string };

/** @throws ServiceError `conflict` if it is already linked to a user */
export async function insertIdentity(tx: Db, userId: string, { providerId, subject, displayName }: Linkable): Promise<void> {
  const { count } = await tx.linkedIdentity.createMany({
    data: [{ id: newId(), userId, providerId, subject, displayName }],
    skipDuplicates: true,
  });
  if (count === 0) throw new ServiceError("conflict", `${displayName} is linked to an account here already.`);
}
