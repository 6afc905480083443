import { type CiToken, findCiToken, looksLikeRepoToken } from "#core/accounts/tokens/find-ci-token.ts";

/**
 * A CI job with a token for one repository (docs/specification/organizations-and-tokens.md#trusted-publishers): no user stands behind it.
 */
export type Job = Extract<CiToken, { user: null }>;

/** The job whose repository token was sent; undefined for any other token, and for an unknown or expired one. */
export async function findJob(token: string): Promise<Job | undefined> {
  if (!looksLikeRepoToken(token)) return undefined;
  const found = await findCiToken(token);
  return found?.repo ? found : undefined;
}
