import { AuthorizationResponseError } from "oauth4webapi";
import type { Person } from "#core/access/actor.ts";
import { RECENT_AUTHENTICATION_SECONDS } from "#core/access/may.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken, isEqualInConstantTime } from "#core/crypto/token.ts";
import { type Db, db } from "#core/db.ts";
import { isServiceError } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { log } from "#core/log.ts";
import { findOneTimeToken, issueOneTimeToken, type OneTimeToken, useOneTimeToken } from "../one-time-token.ts";
import { completeReauthentication } from "../second-step/complete-reauthentication.ts";
import { completeSignIn, type SignInOutcome } from "../sessions/complete-sign-in.ts";
import { ProviderUnreachable } from "./fetch-from-provider.ts";
import { identifyByGithub } from "./identify-by-github.ts";
import { identifyByOidc } from "./identify-by-oidc.ts";
import { findIdentityProvider, type IdentityProvider, kindDefaults } from "./identity-provider.ts";
import { requireProvidersOnly, signInMethods } from "./linked-identities.ts";
import type { UpstreamIdentity } from "./upstream-identity.ts";

export type Callback = {
  slug: string;
  parameters: URLSearchParams;
  browser: string | undefined;
  actor: Person | undefined;
  sessionToken: string | undefined;
};

export type CallbackFailure =
  /** Forged responses get this failure too. */
  | "expired"
  | "cancelled"
  | "failed"
  | "unacceptable"
  | "unreachable"
  /** The identity is linked to another account. */
  | "of-another"
  /** The identity is not the signed-in user's. */
  | "not-you"
  /** The provider did not authenticate the user again, which was required. */
  | "not-anew"
  | "disabled";

type CallbackOutcome =
  | AdmittedIdentity
  | { step: "failed"; reason: CallbackFailure; slug: string; next: string; isSignIn: boolean };

/** RFC 6749 §4.1.2. */
export async function receiveCallback(callback: Callback, from: RequestOrigin): Promise<CallbackOutcome> {
  const { slug, parameters, browser, actor } = callback;
  const states = parameters.getAll("state");
  const state = states.length === 1 ? (states[0] ?? "") : "";
  const asked = browser ? await redeemSignInRequest(state, browser, slug) : undefined;
  if (!asked || !browser) return { step: "failed", reason: "expired", slug, next: "/", isSignIn: !actor };
  const { provider, request } = asked;
  const { intent, next } = request.data;
  const fail = (reason: CallbackFailure): CallbackOutcome => ({
    step: "failed",
    reason,
    slug,
    next,
    isSignIn: intent === "sign-in",
  });
  let identity: UpstreamIdentity;
  try {
    const identify = provider.kind === "github" ? identifyByGithub : identifyByOidc;
    identity = await identify(provider, parameters, { state, browser });
  } catch (error) {
    // The error may contain the authorization code or the tokens, so only its `code` and `message` are logged.
    const { code, message } = error as Error & { code?: string };
    log().info({ provider: slug, code, reason: message }, "a sign-in with an identity provider failed");
    return fail(failureOf(error));
  }
  if (intent !== "sign-in" && (!actor || actor.userId !== request.userId)) return fail("not-you");
  const admitted = await admitIdentity({ ...callback, provider, identity, request }, from);
  return typeof admitted === "string" ? fail(admitted) : admitted;
}

/** Knowing a `state` must not be enough to end another browser's sign-in. */
async function redeemSignInRequest(
  state: string,
  browser: string,
  slug: string,
): Promise<{ provider: IdentityProvider; request: OneTimeToken<"sign-in-elsewhere"> } | undefined> {
  const request = await findOneTimeToken(state, "sign-in-elsewhere");
  if (!request || !isEqualInConstantTime(request.data.browserHash, hashToken(browser))) return undefined;
  const provider = await findIdentityProvider(slug);
  // A response at another provider's URL is a mix-up (RFC 9700 §4.4).
  if (!provider || provider.disabledAt || provider.id !== request.data.providerId) return undefined;
  const isFirst = await db()
    .$transaction(async (tx) => useOneTimeToken(tx, state, "sign-in-elsewhere"))
    .then(
      () => true,
      (error) => {
        if (isServiceError(error)) return false;
        throw error;
      },
    );
  return isFirst ? { provider, request } : undefined;
}

function failureOf(error: unknown): CallbackFailure {
  if (error instanceof ProviderUnreachable) return "unreachable";
  if (!(error instanceof AuthorizationResponseError)) return "unacceptable";
  return error.error === "access_denied" ? "cancelled" : "failed";
}

type AdmittedIdentity =
  | { step: "enter"; outcome: SignInOutcome; next: string }
  | { step: "proved"; next: string }
  /** No account has the identity yet. The token is for `pendingIdentityCookie`. */
  | { step: "pending"; token: string };

type Proved = {
  provider: IdentityProvider;
  identity: UpstreamIdentity;
  request: OneTimeToken<"sign-in-elsewhere">;
  actor: Person | undefined;
  sessionToken: string | undefined;
};

/** Clocks differ, so a sign-in at the provider may be dated this much before the request. */
const CLOCK_SKEW_MILLISECONDS = 60 * 1000;

/** Finds the user by subject, never by an email address, which may belong to somebody else by now. */
async function admitIdentity(proved: Proved, from: RequestOrigin): Promise<AdmittedIdentity | CallbackFailure> {
  const { provider, identity, request } = proved;
  const { intent, next, startedAt } = request.data;
  if (intent === "reauthenticate" && !isProvedSince(startedAt, provider, identity)) return "not-anew";
  try {
    return await db().$transaction(async (tx) => {
      if (intent === "sign-in") {
        const userId = await recordUse(tx, provider.id, identity);
        if (userId === undefined) return pending(tx, proved);
        const { sessionToken } = proved;
        const provedAt = await authenticationTime(tx, userId, provider, identity);
        const first = { methods: [], provedBy: "provider", providerId: provider.id, provedAt, replaces: sessionToken } as const;
        return { step: "enter", outcome: await completeSignIn(tx, userId, first, from), next } as const;
      }
      const actor = proved.actor as Person;
      const isOwn = (await recordUse(tx, provider.id, identity, actor.userId)) !== undefined;
      if (intent === "link") {
        if (isOwn) return { step: "proved", next } as const;
        const taken = await tx.linkedIdentity.count({ where: { providerId: provider.id, subject: identity.subject } });
        return taken > 0 ? "of-another" : pending(tx, proved);
      }
      if (!isOwn) return "not-you";
      await requireProvidersOnly(actor.userId, tx);
      return { step: "enter", outcome: await completeReauthentication(tx, actor, { methods: [] }, from), next } as const;
    });
  } catch (error) {
    if (!isServiceError(error)) throw error;
    // Meanwhile the account was disabled, the session ended, or the user got a password or a passkey.
    if (error.code === "forbidden" || error.code === "unauthorized") return intent === "sign-in" ? "disabled" : "expired";
    throw error;
  }
}

/** Organizations that require their own issuer check the recorded time. With `ownerId`, only this user is found. */
async function recordUse(
  tx: Db,
  providerId: string,
  { subject, displayName }: UpstreamIdentity,
  ownerId?: string,
): Promise<string | undefined> {
  const [linked] = await tx.linkedIdentity.updateManyAndReturn({
    where: { providerId, subject, ...(ownerId === undefined ? {} : { userId: ownerId }) },
    data: { lastUsedAt: new Date(), displayName },
    select: { userId: true },
  });
  return linked?.userId;
}

async function pending(tx: Db, { provider, identity, request }: Proved): Promise<AdmittedIdentity> {
  const { subject, displayName, email, username, fullName } = identity;
  const token = await issueOneTimeToken(tx, {
    purpose: "pending-identity",
    // The next user of the browser has the cookie too, and must not link the identity.
    ...(request.userId && { userId: request.userId }),
    subject: newId(),
    data: {
      providerId: provider.id,
      subject,
      displayName,
      // An organization's administrators control its issuer, which could claim any address.
      email: provider.orgId === null ? email : null,
      username,
      fullName,
      next: request.data.next,
    },
  });
  return { step: "pending", token };
}

function isProvedSince(startedAt: number, { kind }: IdentityProvider, { authenticatedAt }: UpstreamIdentity): boolean {
  if (!kindDefaults[kind].canReauthenticate) return true;
  return authenticatedAt !== null && authenticatedAt.getTime() >= startedAt - CLOCK_SKEW_MILLISECONDS;
}

/**
 * A browser that is signed in at the provider comes back without a prompt. If that counted as a recent authentication (S113), it
 * would bypass `requireProvidersOnly` and `isProvedSince`.
 */
async function authenticationTime(tx: Db, userId: string, { kind }: IdentityProvider, identity: UpstreamIdentity): Promise<Date> {
  const now = Date.now();
  const { canReauthenticate } = kindDefaults[kind];
  if (canReauthenticate && identity.authenticatedAt) return new Date(Math.min(now, identity.authenticatedAt.getTime()));
  const { hasPassword, passkeys } = await signInMethods(userId, tx);
  const isBestProof = !canReauthenticate && !hasPassword && passkeys === 0;
  return new Date(isBestProof ? now : now - RECENT_AUTHENTICATION_SECONDS * 1000);
}
