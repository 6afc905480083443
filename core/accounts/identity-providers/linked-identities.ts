import type { Person } from "../../access/actor.ts";
import { may, requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { conflict, notFound, ServiceError } from "../../errors.ts";
import { isId, newId } from "../../ids.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { identityLinkedEmail, identityUnlinkedEmail } from "../emails/sign-in-emails.ts";
import { linkIsGone, useOneTimeToken } from "../one-time-token.ts";
import { lockLiveUser } from "../users/find-user.ts";
import type { ProviderKind } from "./identity-provider.ts";

const IDENTITIES_MAX = 30;

/** See S113. `token` is from `pendingIdentityCookie`. Returns the path to continue to, and the provider's name. */
export async function linkIdentity(actor: Person, token: string, from: RequestOrigin): Promise<{ next: string; name: string }> {
  const { userId } = actor;
  await requirePermission(actor, "linked_identity.link", { userId }, { what: "User" });
  return db().$transaction(async (tx) => {
    await lockLiveUser(tx, userId);
    const { data, userId: startedBy } = await useOneTimeToken(tx, token, "pending-identity");
    if (startedBy && startedBy !== userId) throw linkIsGone();
    const provider = await requireLiveProvider(tx, data.providerId);
    const { orgId, name } = provider;
    if (orgId !== null && !(await may(actor, "organization.read_membership", { orgId }, tx))) throw notFound("Identity provider");
    if ((await tx.linkedIdentity.count({ where: { userId } })) >= IDENTITIES_MAX) {
      throw conflict("You have linked the maximum number of accounts. Unlink one first.");
    }
    await insertIdentity(tx, userId, data);
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, email: true } });
    const { displayName } = data;
    await queueMail(tx, {
      to: user.email,
      ...identityLinkedEmail({ ...user, provider: name, displayName, isSignInMethod: orgId === null }),
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

/** Locks the provider, so that nobody removes it meanwhile. */
export async function requireLiveProvider(tx: Db, id: string) {
  await tx.$queryRaw`SELECT 1 FROM identity_provider WHERE id = ${id} FOR KEY SHARE`;
  const provider = await tx.identityProvider.findUnique({ where: { id, disabledAt: null } });
  if (!provider) throw linkIsGone();
  return provider;
}

type Linkable = { providerId: string; subject: string; displayName: string };

export async function insertIdentity(tx: Db, userId: string, { providerId, subject, displayName }: Linkable): Promise<void> {
  const { count } = await tx.linkedIdentity.createMany({
    data: [{ id: newId(), userId, providerId, subject, displayName }],
    skipDuplicates: true,
  });
  if (count === 0) throw conflict(`${displayName} is already linked to an account here.`);
}

/** See S113. */
export async function unlinkIdentity(actor: Person, identityId: string, from: RequestOrigin): Promise<{ name: string }> {
  const { userId } = actor;
  await requirePermission(actor, "linked_identity.unlink", { userId }, { what: "User" });
  if (!isId(identityId)) throw notFound("Linked account");
  return db().$transaction(async (tx) => {
    // Without the lock, two concurrent removals would each find the other identity still linked.
    await lockLiveUser(tx, userId);
    const identity = await tx.linkedIdentity.findUnique({
      where: { id: identityId, userId },
      select: { displayName: true, provider: { select: { name: true, slug: true, orgId: true, disabledAt: true } } },
    });
    if (!identity) throw notFound("Linked account");
    const { name, slug, orgId, disabledAt } = identity.provider;
    const isSignInMethod = orgId === null && !disabledAt;
    await tx.linkedIdentity.delete({ where: { id: identityId } });
    if (isSignInMethod) await requireSignInMethod(userId, tx);
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, email: true } });
    const displayName = identity.displayName ?? "";
    await queueMail(tx, { to: user.email, ...identityUnlinkedEmail({ ...user, provider: name, displayName, isSignInMethod }) });
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

export type LinkedIdentity = {
  id: string;
  displayName: string;
  createdAt: Date;
  lastUsedAt: Date;
  provider: {
    slug: string;
    name: string;
    kind: ProviderKind;
    isDisabled: boolean;
    organization: { name: string; fullName: string } | null;
  };
};

const LIST_MAX_ROWS = 100;

export async function listLinkedIdentities(userId: string): Promise<LinkedIdentity[]> {
  const rows = await db().linkedIdentity.findMany({
    where: { userId },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: LIST_MAX_ROWS,
    select: {
      id: true,
      displayName: true,
      subject: true,
      createdAt: true,
      lastUsedAt: true,
      provider: {
        select: { slug: true, name: true, kind: true, disabledAt: true, org: { select: { name: true, fullName: true } } },
      },
    },
  });
  return rows.map(({ displayName, subject, provider: { org, disabledAt, kind, ...provider }, ...row }) => ({
    ...row,
    displayName: displayName ?? subject,
    provider: { ...provider, kind: kind as ProviderKind, isDisabled: disabledAt !== null, organization: org },
  }));
}

type SignInMethods = {
  hasPassword: boolean;
  passkeys: number;
  /** Identities at an organization's issuer do not count, because nobody signs in with them. */
  identities: number;
};

export async function signInMethods(userId: string, tx: Db = db()): Promise<SignInMethods> {
  const [row] = await tx.$queryRaw<SignInMethods[]>`
    SELECT u.password_hash IS NOT NULL AS "hasPassword",
           (SELECT count(*)::int FROM passkey WHERE user_id = u.id) AS passkeys,
           (SELECT count(*)::int FROM linked_identity i JOIN identity_provider p ON p.id = i.provider_id
             WHERE i.user_id = u.id AND p.org_id IS NULL AND p.disabled_at IS NULL) AS identities
      FROM "user" u WHERE u.id = ${userId}`;
  return row ?? { hasPassword: false, passkeys: 0, identities: 0 };
}

/** Call this after the removal, with the user locked. If it throws, the transaction undoes the removal. */
export async function requireSignInMethod(userId: string, tx: Db): Promise<void> {
  const { hasPassword, passkeys, identities } = await signInMethods(userId, tx);
  if (hasPassword || passkeys > 0 || identities > 0) return;
  throw conflict("This is your only way to sign in. Set a password, add a passkey or link another account first.");
}

/** A provider may confirm anybody at an unlocked machine, so only users without password and passkey confirm there (S113). */
export async function requireProvidersOnly(userId: string, tx: Db = db()): Promise<void> {
  const { hasPassword, passkeys } = await signInMethods(userId, tx);
  if (hasPassword || passkeys > 0) {
    throw new ServiceError("forbidden", "Confirm with your password or your passkey.");
  }
}
