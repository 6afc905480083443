import type { Person } from "#core/access/actor.ts";
import { roleInOrganization } from "#core/access/standing-in-organization.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";
import { parseEmailAddress, readEmailAddress } from "../email-address.ts";
import { parseHandle } from "../handles/parse-handle.ts";
import { findOneTimeToken, linkIsGone, useOneTimeToken } from "../one-time-token.ts";
import { completeSignIn, type SignInOutcome } from "../sessions/complete-sign-in.ts";
import { consumeAddressThrottle } from "../throttle.ts";
import { insertUser, parseFullName } from "../users/create-user.ts";
import { readSignUpPolicy } from "../users/sign-up-policy.ts";
import type { ProviderKind } from "./identity-provider.ts";
import { insertIdentity, requireLiveProvider } from "./linked-identities.ts";

export type PendingIdentity = {
  provider: { slug: string; name: string; kind: ProviderKind; orgId: string | null };
  displayName: string;
  next: string;
} & (
  | { choice: "link" }
  /** An account is never linked because of its address alone. */
  | { choice: "sign-in-first"; hasAccount: boolean; maySignUp: boolean; email: string | null }
  | { choice: "sign-up"; email: string; username: string; fullName: string }
);

/** @returns undefined also if the issuer is an organization's and the user is not a member */
export async function findPendingIdentity(token: string, actor: Person | undefined): Promise<PendingIdentity | undefined> {
  const pending = await findOneTimeToken(token, "pending-identity");
  if (!pending || (pending.userId && pending.userId !== actor?.userId)) return undefined;
  const { providerId, displayName, username, fullName, next } = pending.data;
  const provider = await db().identityProvider.findUnique({ where: { id: providerId, disabledAt: null } });
  if (!provider) return undefined;
  const { slug, name, orgId } = provider;
  const shown = { provider: { slug, name, kind: provider.kind as ProviderKind, orgId }, displayName, next };
  if (actor) {
    const isEntitled = orgId === null || (await roleInOrganization(actor.userId, orgId)) !== undefined;
    return isEntitled ? { ...shown, choice: "link" } : undefined;
  }
  const email = readEmailAddress(pending.data.email ?? "");
  const account = email && (await db().user.findUnique({ where: { emailCanonical: email.canonical }, select: { id: true } }));
  if (account || !email || !provider.isSignUpAllowed) {
    const maySignUp = !account && (await readSignUpPolicy()).isOpen;
    return { ...shown, choice: "sign-in-first", hasAccount: Boolean(account), maySignUp, email: email?.address ?? null };
  }
  return { ...shown, choice: "sign-up", email: email.address, username: suggestedUsername(username), fullName: fullName ?? "" };
}

/** @returns an empty text if the name is not a valid username here. The username may be taken. */
function suggestedUsername(username: string | null): string {
  try {
    return parseHandle((username ?? "").replaceAll(/[^A-Za-z0-9._-]/g, ""), "username").spelled;
  } catch (error) {
    if (isServiceError(error)) return "";
    throw error;
  }
}

const ADDRESS_LIMIT = { limit: 30, windowSeconds: 60 * 60 };

/** `token` is from `pendingIdentityCookie`, and `replaces` is the session token that the browser sent. */
export async function signUpWithIdentity(
  token: string,
  input: { username: string; fullName?: string; replaces?: string | undefined },
  from: RequestOrigin,
): Promise<{ outcome: SignInOutcome; next: string }> {
  const handle = parseHandle(input.username, "username");
  const fullName = parseFullName(input.fullName ?? "") || handle.spelled;
  await consumeAddressThrottle("sign-up", from.ip, ADDRESS_LIMIT);
  return db().$transaction(async (tx) => {
    const { data, userId: startedBy } = await useOneTimeToken(tx, token, "pending-identity");
    if (startedBy) throw linkIsGone();
    const { id, slug, name, orgId, isSignUpAllowed } = await requireLiveProvider(tx, data.providerId);
    if (orgId !== null || !isSignUpAllowed || data.email === null) {
      throw new ServiceError(
        "forbidden",
        `You cannot create an account with ${name} here. If you have an account, sign in to it as before, then link ${name}.`,
      );
    }
    const email = parseEmailAddress(data.email);
    const userId = await insertUser(tx, { handle, fullName, email, passwordHash: null }, undefined, from);
    await insertIdentity(tx, userId, data);
    await recordAuditEvent(tx, {
      type: "linked_identity.link",
      actorId: userId,
      subjectId: userId,
      data: { provider: name, slug, displayName: data.displayName },
      from,
    });
    const first = { methods: [], provedBy: "provider", providerId: id, replaces: input.replaces } as const;
    return { outcome: await completeSignIn(tx, userId, first, from), next: data.next };
  });
}
