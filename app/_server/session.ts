import { cookies } from "next/headers";
import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { type Person, personActor } from "#core/access/actor.ts";
import { isRecentlyAuthenticated, may } from "#core/access/may.ts";
import { findSiteSession, type SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { ServiceError } from "#core/errors.ts";
import { countAgainst } from "#core/fair-queue/party.ts";
import { signInPath } from "./next-path.ts";
import { noteBeginning } from "./page-status.ts";

export type { SiteSession };

export const currentSession = cache(async (): Promise<SiteSession | undefined> => {
  const token = await sessionToken();
  const session = token ? await findSiteSession(token) : undefined;
  if (session) countAgainst(personActor(session));
  return session;
});

export async function requireSession(returnTo: string): Promise<SiteSession> {
  return (await currentSession()) ?? redirect(signInPath(returnTo));
}

/** Users who last authenticated more than 15 minutes ago must do so again (S113). */
export async function requireRecentSession(returnTo: string): Promise<SiteSession> {
  const session = await requireSession(returnTo);
  if (!isRecentlyAuthenticated(session)) redirect(signInPath(returnTo, { isReauthentication: true }));
  return session;
}

export async function requirePerson(returnTo: string): Promise<Person> {
  return personActor(await requireSession(returnTo));
}

/** Each call of the returned function looks the session up again, because the session may have ended (S112). */
export async function personLookup(): Promise<() => Promise<Person>> {
  const token = await sessionToken();
  return async () => {
    const session = token ? await findSiteSession(token) : undefined;
    if (!session) throw new ServiceError("unauthorized", "Sign in to see this.");
    return personActor(session);
  };
}

/** Only core can tell whether the token is valid. */
export async function sessionToken(): Promise<string | undefined> {
  noteBeginning();
  return (await cookies()).get(siteSessionCookie().name)?.value;
}

/** The token is always new, never one that the browser has sent (S34). */
export async function setSessionCookie(token: string): Promise<void> {
  const { name, options } = siteSessionCookie();
  (await cookies()).set(name, token, options);
}

export async function clearSessionCookie(): Promise<void> {
  const { name, options } = siteSessionCookie();
  (await cookies()).set(name, "", { ...options, maxAge: 0 });
}

/** 404 for everybody but operators (S136). */
export const requireOperator = cache(async (page: string): Promise<Person> => {
  const person = personActor(await requireSession(page));
  if (!(await may(person, "installation.operate", null))) notFound();
  return person;
});
