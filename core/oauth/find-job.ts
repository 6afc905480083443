import { type CiToken, findCiToken, looksLikeRepoToken } from "#core/accounts/tokens/find-ci-token.ts";

/** A CI job with a token for one repository (docs/specification/organizations-and-tokens.md#trusted-publishers): nobody stands behind it. */
export type Job = Extract<CiToken, { user: null }>;

/** Whose token a repository's job sent; undefined for what is none, and for one that is unknown or over. */
export async function findJob(token: string): Promise<Job | undefined> {
  if (!looksLikeRepoToken(token)) return undefined;
  const found = await findCiToken(token);
  return found?.repo ? found : undefined;
}
