import { type KoaContextWithOIDC, Provider } from "oidc-provider";
import { findSiteSession, type SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";

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
