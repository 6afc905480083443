import { findIdentityProvider } from "#core/accounts/identity-providers/find-identity-provider.ts";
import { problemSentence } from "./elsewhere.ts";

/** Why a sign-in elsewhere came to nothing, as the address says; undefined when it says nothing of the kind. */
export async function providerProblem(problem: string, slug: string): Promise<string | undefined> {
  if (!problem) return undefined;
  const provider = await findIdentityProvider(slug);
  // What an organization's issuer is called is for its members.
  return problemSentence(problem, provider?.orgId === null ? provider.name : undefined);
}
