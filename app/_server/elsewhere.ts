import { cookies } from "next/headers";
import { elsewhereCookie, pendingIdentityCookie } from "#core/accounts/identity-providers/elsewhere-cookies.ts";
import type { CallbackFailure } from "#core/accounts/identity-providers/receive-callback.ts";

/** The secret of this browser for its sign-ins elsewhere. */
export async function elsewhereSecret(): Promise<string | undefined> {
  return (await cookies()).get(elsewhereCookie().name)?.value;
}

export async function setElsewhereSecret(secret: string): Promise<void> {
  const { name, options } = elsewhereCookie();
  (await cookies()).set(name, secret, options);
}

/** The token of an identity that was proved elsewhere and is nobody's here yet. */
export async function pendingIdentityToken(): Promise<string | undefined> {
  return (await cookies()).get(pendingIdentityCookie().name)?.value;
}

export async function setPendingIdentity(token: string): Promise<void> {
  const { name, options } = pendingIdentityCookie();
  (await cookies()).set(name, token, options);
}

export async function clearPendingIdentity(): Promise<void> {
  const { name, options } = pendingIdentityCookie();
  (await cookies()).set(name, "", { ...options, maxAge: 0 });
}

/** Where a sign-in elsewhere begins: a link, so that it works without JavaScript. */
export function elsewherePath(slug: string, query: { next: string; intent?: "link" | "reauthenticate" }): string {
  return `/login/with/${slug}?${new URLSearchParams(query)}`;
}

export type ElsewhereProblem = CallbackFailure | "unknown" | "too-many";

const sentences: Record<ElsewhereProblem, (provider: string) => string> = {
  expired: () => "That sign-in was not begun in this browser, or it took too long. Begin again.",
  cancelled: (provider) => `You were not signed in: ${provider} was told not to, or said no.`,
  failed: (provider) => `${provider} could not sign you in. Try again, or use another way.`,
  unacceptable: (provider) => `What came back from ${provider} does not prove who you are. Nothing was changed; try again.`,
  unreachable: (provider) => `${provider} cannot be reached at the moment. Try again later, or use another way.`,
  "of-another": (provider) =>
    `That account at ${provider} is linked to another account here. Sign in to that one and unlink it first.`,
  "not-you": (provider) => `That account at ${provider} is not linked to the account that is signed in here.`,
  "not-anew": (provider) => `${provider} did not ask who you are again, so it proves nothing new. Sign out there and try again.`,
  disabled: () => "This account is disabled. Write to the operator of this service.",
  unknown: () => "That way of signing in is not offered here.",
  "too-many": () => "Too many sign-ins were begun from here. Wait a few minutes.",
};

/** The sentence for a problem that an address names; undefined for anything else that it may hold. */
export function problemSentence(problem: string, provider: string | undefined): string | undefined {
  if (!Object.hasOwn(sentences, problem)) return undefined;
  return sentences[problem as ElsewhereProblem](provider ?? "the provider");
}

/** Where a problem is told: at the sign-in page or, to who is signed in, beside their linked accounts. */
export function problemPath(problem: ElsewhereProblem, at: { slug: string; next: string; isSignIn: boolean }): string {
  const query = { problem, with: at.slug };
  return at.isSignIn
    ? `/login?${new URLSearchParams({ switch: "1", ...query, next: at.next })}`
    : `/settings/linked-accounts?${new URLSearchParams(query)}`;
}
