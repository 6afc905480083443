import { AuthorizationResponseError } from "oauth4webapi";
import type { Person } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, isEqualInConstantTime } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { isServiceError } from "../../errors.ts";
import { log } from "../../log.ts";
import { findOneTimeToken } from "../one-time-tokens/find-one-time-token.ts";
import type { OneTimeToken } from "../one-time-tokens/one-time-token.ts";
import { useOneTimeToken } from "../one-time-tokens/use-one-time-token.ts";
import { type AdmittedIdentity, admitIdentity } from "./admit-identity.ts";
import { ProviderUnreachable } from "./fetch-from-provider.ts";
import { findIdentityProvider } from "./find-identity-provider.ts";
import { identifyByGithub } from "./identify-by-github.ts";
import { identifyByOidc } from "./identify-by-oidc.ts";
import type { IdentityProvider } from "./identity-provider.ts";
import type { UpstreamIdentity } from "./upstream-identity.ts";

export type Callback = {
  slug: string;
  parameters: URLSearchParams;
  /** The secret in the browser's cookie. */
  browser: string | undefined;
  /** The signed-in user. */
  actor: Person | undefined;
  /** The session token that the browser sent. */
  sessionToken: string | undefined;
};

/** Why a sign-in at a provider failed; the page has a sentence for each. */
export type CallbackFailure =
  /** Not begun in this browser, already answered, or expired: a forged response can only lead to this. */
  | "expired"
  /** The user, or somebody else there, refused. */
  | "cancelled"
  /** The provider failed. */
  | "failed"
  /** The response proves nothing. */
  | "unacceptable"
  | "unreachable"
  /** The identity is linked to another account here. */
  | "of-another"
  /** The identity is not the signed-in user's. */
  | "not-you"
  /** The provider did not reauthenticate the user. */
  | "not-anew"
  | "disabled";

export type CallbackOutcome =
  | AdmittedIdentity
  | { step: "failed"; reason: CallbackFailure; slug: string; next: string; isSignIn: boolean };

/**
 * Accepts a provider's response (RFC 6749 §4.1.2). It is valid only in the browser that asked, once, within ten minutes, at
 * this provider's own URL; only then is the code redeemed.
 */
export async function receiveCallback(callback: Callback, from: RequestOrigin): Promise<CallbackOutcome> {
  const { slug, parameters, browser, actor } = callback;
  const states = parameters.getAll("state");
  const state = states.length === 1 ? (states[0] ?? "") : "";
  const asked = browser ? await takeQuestion(state, browser, slug) : undefined;
  if (!asked || !browser) return { step: "failed", reason: "expired", slug, next: "/", isSignIn: !actor };
  const { provider, question } = asked;
  const { intent, next } = question.data;
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
    // Not the error itself, which may contain the code or the tokens.
    const { code, message } = error as Error & { code?: string };
    log().info({ provider: slug, code, reason: message }, "a sign-in elsewhere came to nothing");
    return fail(failureOf(error));
  }
  // Linking and reauthentication began while a user was signed in, who must still be signed in.
  if (intent !== "sign-in" && (!actor || actor.userId !== question.userId)) return fail("not-you");
  const admitted = await admitIdentity({ ...callback, provider, identity, question }, from);
  return typeof admitted === "string" ? fail(admitted) : admitted;
}

/**
 * Finds the request that a response belongs to, and uses it up. A response in another browser does not use it up, so that
 * whoever has seen a `state` cannot spoil the sign-in.
 */
async function takeQuestion(
  state: string,
  browser: string,
  slug: string,
): Promise<{ provider: IdentityProvider; question: OneTimeToken<"sign-in-elsewhere"> } | undefined> {
  const question = await findOneTimeToken(state, "sign-in-elsewhere");
  if (!question || !isEqualInConstantTime(question.data.browserHash, hashToken(browser))) return undefined;
  const provider = await findIdentityProvider(slug);
  // A response at another provider's URL is a mix-up (RFC 9700 §4.4).
  if (!provider || provider.disabledAt || provider.id !== question.data.providerId) return undefined;
  const isFirst = await db()
    .$transaction(async (tx) => useOneTimeToken(tx, state, "sign-in-elsewhere"))
    .then(
      () => true,
      (error) => {
        if (isServiceError(error)) return false;
        throw error;
      },
    );
  return isFirst ? { provider, question } : undefined;
}

function failureOf(error: unknown): CallbackFailure {
  if (error instanceof ProviderUnreachable) return "unreachable";
  if (!(error instanceof AuthorizationResponseError)) return "unacceptable";
  return error.error === "access_denied" ? "cancelled" : "failed";
}
