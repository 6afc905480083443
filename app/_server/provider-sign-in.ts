import { cookies } from "next/headers";
import { findIdentityProvider } from "#core/accounts/identity-providers/identity-provider.ts";
import type { CallbackFailure } from "#core/accounts/identity-providers/receive-callback.ts";
import { flowCookie, pendingIdentityCookie } from "#core/accounts/identity-providers/sign-in-flow.ts";

export async function providerSignInSecret(): Promise<string | undefined> {
  return (await cookies()).get(flowCookie().name)?.value;
}

export async function setProviderSignInSecret(secret: string): Promise<void> {
  const { name, options } = flowCookie();
  (await cookies()).set(name, secret, options);
}

/** The token of a pending identity, which a provider has confirmed and which no account is linked to yet. */
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

/** The path is for a link, which works without JavaScript. */
export function providerSignInPath(slug: string, query: { next: string; intent?: "link" | "reauthenticate" }): string {
  return `/login/with/${slug}?${new URLSearchParams(query)}`;
}

export type ProviderSignInProblem = CallbackFailure | "unknown" | "too-many";

const sentences: Record<ProviderSignInProblem, (provider: string) => string> = {
  expired: () => "This sign-in was not started in this browser, or it took too long. Start again.",
  cancelled: (provider) => `Nothing was changed: the sign-in at ${provider} was cancelled or denied.`,
  failed: (provider) => `${provider} could not sign you in. Try again, or use another method.`,
  unacceptable: (provider) => `The response from ${provider} does not prove your identity. Nothing was changed. Try again.`,
  unreachable: (provider) => `${provider} cannot be reached at the moment. Try again later, or use another method.`,
  "of-another": (provider) =>
    `This account at ${provider} is linked to another account here. Sign in to that account and unlink it first.`,
  "not-you": (provider) => `This account at ${provider} is not linked to your account. Sign in there with one that is.`,
  "not-anew": (provider) => `${provider} did not ask you to sign in again. Sign out there and try again.`,
  disabled: () => "This account is disabled. Contact the operator of this service.",
  unknown: () => "This sign-in method is not available here. Use another one.",
  "too-many": () => "Too many sign-ins were started from here. Wait a few minutes.",
};

function problemSentence(problem: string, provider: string | undefined): string | undefined {
  if (!Object.hasOwn(sentences, problem)) return undefined;
  const sentence = sentences[problem as ProviderSignInProblem];
  return provider ? sentence(provider) : sentence("the provider").replace(/^the/, "The");
}

export function problemPath(problem: ProviderSignInProblem, at: { slug: string; next: string; isSignIn: boolean }): string {
  const query = { problem, with: at.slug };
  return at.isSignIn
    ? `/login?${new URLSearchParams({ switch: "1", ...query, next: at.next })}`
    : `/settings/linked-accounts?${new URLSearchParams(query)}`;
}

export async function providerProblem(problem: string, slug: string): Promise<string | undefined> {
  if (!problem) return undefined;
  const provider = await findIdentityProvider(slug);
  // Only members may know the name of an organization's issuer.
  return problemSentence(problem, provider?.orgId === null ? provider.name : undefined);
}
