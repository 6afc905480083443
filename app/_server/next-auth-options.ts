import type { NextAuthOptions } from "next-auth";
import { endSiteSessionByToken } from "#core/accounts/sessions/end-site-session.ts";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { SITE_SESSION_ABSOLUTE_SECONDS } from "#core/accounts/sessions/session-lifetime.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { derivedKey } from "#core/crypto/seal.ts";
import { log } from "#core/log.ts";

/** What next-auth carries about as its token: our opaque one, and whose it is. */
type CarriedToken = { sessionToken?: string; sub?: string; name?: string; email?: string };

/**
 * next-auth on our sessions. Its JWT strategy is used without a JWT: the cookie's value is the opaque token of a row that core
 * owns (`encode` and `decode` pass it through), so that a session can be listed and ended (S113), and both ways into the site,
 * this one and the server actions, know the same people. Ways to sign in elsewhere (GitHub, Google, any OIDC issuer) are
 * `providers`; the password is not one, since its form keeps what was typed and shows messages beside the fields.
 */
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
      decode: async ({ token }) => carry(token),
    },
    events: {
      signOut: async ({ token }) => {
        const { sessionToken } = (token ?? {}) as CarriedToken;
        if (sessionToken) await endSiteSessionByToken(sessionToken);
      },
    },
    logger: {
      error: (code, metadata) => log().error({ err: metadata instanceof Error ? metadata : metadata.error, code }, "next-auth"),
      warn: (code) => log().warn({ code }, "next-auth"),
      debug: (code) => log().debug({ code }, "next-auth"),
    },
  };
}

async function carry(sessionToken: string | undefined): Promise<CarriedToken | null> {
  const session = sessionToken ? await findSiteSession(sessionToken) : undefined;
  if (!session) return null;
  const { username, fullName, email } = session.user;
  return { sessionToken, sub: session.userId, name: fullName || username, email };
}
