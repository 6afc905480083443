import type { Person } from "../../access/actor.ts";
import { RECENT_AUTHENTICATION_SECONDS } from "../../access/is-recently-authenticated.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { isServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { issueOneTimeToken } from "../one-time-tokens/issue-one-time-token.ts";
import type { OneTimeToken } from "../one-time-tokens/one-time-token.ts";
import { completeReauthentication } from "../second-step/complete-reauthentication.ts";
import { completeSignIn, type SignInOutcome } from "../sessions/complete-sign-in.ts";
import type { IdentityProvider } from "./identity-provider.ts";
import { kindDefaults } from "./provider-kinds.ts";
import type { CallbackFailure } from "./receive-callback.ts";
import type { UpstreamIdentity } from "./upstream-identity.ts";
import { requireNothingElse, waysIn } from "./ways-in.ts";

/** The result for an identity that a provider has proved. */
export type AdmittedIdentity =
  /** The identity is linked: signed in, or on to the second step. */
  | { step: "enter"; outcome: SignInOutcome; next: string }
  /** Linked to the signed-in user; its use was recorded. */
  | { step: "proved"; next: string }
  /** Not linked yet: the token for `pendingIdentityCookie`, and the page that asks what to do. */
  | { step: "pending"; token: string };

type Proved = {
  provider: IdentityProvider;
  identity: UpstreamIdentity;
  question: OneTimeToken<"sign-in-elsewhere">;
  actor: Person | undefined;
  sessionToken: string | undefined;
};

/** Clocks differ: a response may be dated this much before our request. */
const CLOCK_SKEW_MILLISECONDS = 60 * 1000;

/**
 * Decides what follows. The identity is found by provider and subject, never by its e-mail address: whoever has an address
 * there now may not be the one for whom an account with it was created here.
 */
export async function admitIdentity(proved: Proved, from: RequestOrigin): Promise<AdmittedIdentity | CallbackFailure> {
  const { provider, identity, question } = proved;
  const { intent, next, startedAt } = question.data;
  if (intent === "reauthenticate" && !isProvedSince(startedAt, provider, identity)) return "not-anew";
  try {
    return await db().$transaction(async (tx) => {
      const userId = await noteUse(tx, provider.id, identity);
      if (intent === "sign-in") {
        if (userId === undefined) return pending(tx, proved);
        const { sessionToken } = proved;
        const provedAt = await provedWhen(tx, userId, provider, identity);
        const first = { methods: [], provedBy: "provider", providerId: provider.id, provedAt, replaces: sessionToken } as const;
        return { step: "enter", outcome: await completeSignIn(tx, userId, first, from), next } as const;
      }
      const actor = proved.actor as Person;
      if (intent === "link") {
        if (userId === undefined) return pending(tx, proved);
        return userId === actor.userId ? ({ step: "proved", next } as const) : "of-another";
      }
      if (userId !== actor.userId) return "not-you";
      await requireNothingElse(actor.userId, tx);
      return { step: "enter", outcome: await completeReauthentication(tx, actor, { methods: [] }, from), next } as const;
    });
  } catch (error) {
    if (!isServiceError(error)) throw error;
    // Something changed meanwhile: the account was disabled, its session ended, or it now has a better proof.
    if (error.code === "forbidden" || error.code === "unauthorized") return intent === "sign-in" ? "disabled" : "expired";
    throw error;
  }
}

/** Finds the identity's user, and records its use, which an organization that requires its issuer checks. */
async function noteUse(tx: Db, providerId: string, { subject, displayName }: UpstreamIdentity): Promise<string | undefined> {
  const [linked] = await tx.linkedIdentity.updateManyAndReturn({
    where: { providerId, subject },
    data: { lastUsedAt: new Date(), displayName },
    select: { userId: true },
  });
  return linked?.userId;
}

async function pending(tx: Db, { provider, identity, question }: Proved): Promise<AdmittedIdentity> {
  const { subject, displayName, email, username, fullName } = identity;
  const token = await issueOneTimeToken(tx, {
    purpose: "pending-identity",
    subject: newId(),
    data: {
      providerId: provider.id,
      subject,
      displayName,
      // An organization's administrators could vouch for any address.
      email: provider.orgId === null ? email : null,
      username,
      fullName,
      next: question.data.next,
    },
  });
  return { step: "pending", token };
}

function isProvedSince(startedAt: number, { kind }: IdentityProvider, { authenticatedAt }: UpstreamIdentity): boolean {
  if (!kindDefaults[kind].provesAnew) return true;
  return authenticatedAt !== null && authenticatedAt.getTime() >= startedAt - CLOCK_SKEW_MILLISECONDS;
}

/**
 * When a user who signs in with a provider authenticated, as far as sensitive changes and the `max_age` of apps are concerned
 * (S113). A browser that is signed in there comes back without a prompt, even on an unlocked machine: if that counted as proof,
 * it would bypass what `requireNothingElse` and `isProvedSince` require.
 */
async function provedWhen(tx: Db, userId: string, { kind }: IdentityProvider, identity: UpstreamIdentity): Promise<Date> {
  const now = Date.now();
  const { provesAnew } = kindDefaults[kind];
  if (provesAnew && identity.authenticatedAt) return new Date(Math.min(now, identity.authenticatedAt.getTime()));
  const { hasPassword, passkeys } = await waysIn(userId, tx);
  const isBestProof = !provesAnew && !hasPassword && passkeys === 0;
  return new Date(isBestProof ? now : now - RECENT_AUTHENTICATION_SECONDS * 1000);
}
