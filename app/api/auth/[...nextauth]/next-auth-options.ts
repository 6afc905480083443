import type { NextAuthOptions } from "next-auth";
import { signOut } from "#core/accounts/sessions/end-site-session.ts";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { SITE_SESSION_ABSOLUTE_SECONDS } from "#core/accounts/sessions/start-site-session.ts";
import { derivedKey } from "#core/crypto/seal.ts";
import { log } from "#core/log.ts";
import { requestOrigin } from "../../../_server/request-origin.ts";

type CarriedToken = { sessionToken?: string; sub?: string; name?: string; email?: string };

/** The cookie has core's opaque token instead of a JWT, so that a session can be listed and ended (S113). */
export function nextAuthOptions(): NextAuthOptions {
  const cookie = siteSessionCookie();
  return {
    providers: [],
    secret: derivedKey("next-auth").toString("base64url"),
    session: { strategy: "jwt", maxAge: SITE_SESSION_ABSOLUTE_SECONDS },
    cookies: { sessionToken: { name: cookie.name, options: cookie.options } },
    pages: { signIn: "/login", signOut: "/logout", error: "/login" },
    jwt: {
      encode: async ({ token }) => (token as CarriedToken | undefined)?.sessionToken ?? "",
      decode: async ({ token }) => tokenOf(token),
    },
    callbacks: {
      // By default, next-auth fails on a `callbackUrl` that is not a URL or does not fit into a header (S51).
      redirect: ({ url, baseUrl }) => {
        const to = URL.parse(url, baseUrl);
        return to?.origin === baseUrl ? to.href : baseUrl;
      },
    },
    events: {
      signOut: async ({ token }) => {
        const { sessionToken } = (token ?? {}) as CarriedToken;
        if (sessionToken) await signOut(sessionToken, await requestOrigin());
      },
    },
    logger: {
      error: (code, metadata) => {
        const err = metadata instanceof Error ? metadata : metadata.error;
        // The session has ended, or somebody made the cookie up.
        if (err.message !== "JWT invalid") log().error({ err, code }, "next-auth");
      },
      warn: (code) => log().warn({ code }, "next-auth"),
      debug: (code) => log().debug({ code }, "next-auth"),
    },
  };
}

async function tokenOf(sessionToken: string | undefined): Promise<CarriedToken | null> {
  const session = sessionToken ? await findSiteSession(sessionToken) : undefined;
  if (!session) return null;
  const { username, fullName, email } = session.user;
  return { sessionToken, sub: session.userId, name: fullName || username, email };
}
