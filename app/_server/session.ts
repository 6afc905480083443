import { redirect } from "next/navigation";
import { cache } from "react";
import { type Person, personActor } from "#core/access/actor.ts";
import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import { findSiteSession, type SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { ServiceError } from "#core/errors.ts";
import { countAgainst } from "#core/fair-queue/party.ts";
import { signInPath } from "./next-path.ts";
import { sessionToken } from "./session-cookie.ts";

export type { SiteSession };

/** Who is signed in, if anybody; read once a request. */
export const currentSession = cache(async (): Promise<SiteSession | undefined> => {
  const token = await sessionToken();
  const session = token ? await findSiteSession(token) : undefined;
  if (session) countAgainst(personActor(session));
  return session;
});

/** Who is signed in; nobody is sent to sign in and comes back to `returnTo`. */
export async function requireSession(returnTo: string): Promise<SiteSession> {
  return (await currentSession()) ?? redirect(signInPath(returnTo));
}

/** As `requireSession`, for sensitive changes: who proved who they are longer ago than 15 minutes does so again (S113). */
export async function requireRecentSession(returnTo: string): Promise<SiteSession> {
  const session = await requireSession(returnTo);
  if (!isRecentlyAuthenticated(session)) redirect(signInPath(returnTo, { isReauthentication: true }));
  return session;
}

/** Who is signed in, in the form in which core's operations ask who acts. */
export async function requirePerson(returnTo: string): Promise<Person> {
  return personActor(await requireSession(returnTo));
}

/** Who is signed in, for an answer that outlives this moment: looked up each time, since the session may have ended (S112). */
export async function personAskedAnew(): Promise<() => Promise<Person>> {
  const token = await sessionToken();
  return async () => {
    const session = token ? await findSiteSession(token) : undefined;
    if (!session) throw new ServiceError("unauthorized", "Sign in to see this.");
    return personActor(session);
  };
}
