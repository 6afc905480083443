import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";

/**
 * How the person of a session proved who they are, as ID tokens say it (OIDC Core §2, RFC 8176). Nothing is said where another
 * provider alone vouched for them: what they did there is its to say.
 */
export function amrOf({ methods }: Pick<SiteSession, "methods">): string[] | undefined {
  return methods.length > 0 ? methods : undefined;
}
