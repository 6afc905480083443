import { type KoaContextWithOIDC, Provider } from "oidc-provider";
import { findSiteSession, type SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { amrOf } from "./amr.ts";

/**
 * A person is signed in on our pages or not at all: the engine's session follows the site session, and ends with it (S34;
 * docs/decisions/007).
 */

/** The site session of the browser behind a request to the engine, read once a request. */
const sessions = new WeakMap<object, Promise<SiteSession | undefined>>();

export function siteSessionOf(ctx: Pick<KoaContextWithOIDC, "cookies">): Promise<SiteSession | undefined> {
  let session = sessions.get(ctx);
  if (!session) {
    const token = ctx.cookies.get(siteSessionCookie().name, { signed: false });
    session = token ? findSiteSession(token) : Promise.resolve(undefined);
    sessions.set(ctx, session);
  }
  return session;
}

/** Whether the browser of the request in progress is signed in on our own pages as this person. */
export async function isSiteSessionOf(accountId: string): Promise<boolean> {
  const ctx = Provider.ctx;
  // Outside a protocol request (a page that reads an interaction) the page itself compares the accounts.
  if (!ctx) return true;
  return (await siteSessionOf(ctx))?.user.id === accountId;
}

/**
 * Signs the person of the site session in at the engine, under a new session id (S34). Without it somebody who is signed in
 * would be sent round the sign-in page once, and `prompt=none` would find nobody.
 */
export async function adoptSiteSession(ctx: KoaContextWithOIDC): Promise<void> {
  const site = await siteSessionOf(ctx);
  const { session } = ctx.oidc;
  if (!site || !session) return;
  const loginTs = Math.floor(site.authenticatedAt.getTime() / 1000);
  if (session.accountId === site.user.id && session.loginTs === loginTs) return;
  if (!("new" in session)) session.resetIdentifier();
  // Two tabs that begin at once get two engine sessions, of which the browser keeps one. The same uid on both lets it finish
  // the interactions of either.
  if (!session.accountId) session.uid = site.id;
  session.loginAccount({ accountId: site.user.id, loginTs, amr: amrOf(site) });
}
