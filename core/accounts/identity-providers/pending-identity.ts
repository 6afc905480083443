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
import type { ProviderKind } from "./identity-provider.ts";
import { insertIdentity, requireLiveProvider } from "./linked-identities.ts";

/** An identity that is not linked to a user yet, and how the visitor can continue. */
export type PendingIdentity = {
  provider: { slug: string; name: string; kind: ProviderKind; orgId: string | null };
  displayName: string;
  next: string;
} & (
  | { choice: "link" }
  /** The visitor must sign in first: an account with the same address is never linked because of the address alone. */
  | { choice: "sign-in-first"; hasAccount: boolean; email: string | null }
  | { choice: "sign-up"; email: string; username: string; fullName: string }
);

/** The data of the page for a pending identity; undefined if it was used, has expired, its provider is gone, or the user is not a member. */
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
    return { ...shown, choice: "sign-in-first", hasAccount: Boolean(account), email: email?.address ?? null };
  }
  return { ...shown, choice: "sign-up", email: email.address, username: suggestedUsername(username), fullName: fullName ?? "" };
}

/** The user's name at the provider, if it is a valid username here; otherwise empty. It may be taken. */
function suggestedUsername(username: string | null): string {
  try {
    return parseHandle((username ?? "").replaceAll(/[^A-Za-z0-9._-]/g, ""), "username").spelled;
  } catch (error) {
    if (isServiceError(error)) return "";
    throw error;
  }
}

const ADDRESS_LIMIT = { limit: 30, windowSeconds: 60 * 60 };

/**
 * Creates an account for a pending identity whose provider allows sign-up: it has the email address that the provider
 * verified, and no password.
 * @param token from `pendingIdentityCookie`
 * @param replaces the session token that the browser sent
 * @throws ServiceError `invalid_request` or `conflict` on `username`; `conflict` if the address has an account by now; `gone`,
 * `forbidden`, `rate_limited`
 */
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
