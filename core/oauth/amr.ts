import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";

/**
 * How a session's user authenticated, as ID tokens say it (OIDC Core §2, RFC 8176). Absent if only another identity provider vouched for
 * them: what they did there is for that provider to say.
 */
export function amrOf({ methods }: Pick<SiteSession, "methods">): string[] | undefined {
  return methods.length > 0 ? methods : undefined;
}
