import { env } from "../../env.ts";
import { SITE_SESSION_ABSOLUTE_SECONDS } from "./start-site-session.ts";

export type SiteSessionCookie = {
  name: string;
  options: { httpOnly: true; secure: boolean; sameSite: "lax"; path: "/"; maxAge: number };
};

/**
 * The cookie with the session token (S111). With https it has the `__Host-` prefix, so that no subdomain and no plain http page
 * can set one. Cookies ignore ports: if ORIGIN has a port, the cookie's name contains it, so that two services on one machine
 * do not sign out each other's users.
 */
export function siteSessionCookie(): SiteSessionCookie {
  const { protocol, port } = new URL(env().ORIGIN);
  const secure = protocol === "https:";
  return {
    name: `${secure ? "__Host-" : ""}session${port ? `-${port}` : ""}`,
    options: { httpOnly: true, secure, sameSite: "lax", path: "/", maxAge: SITE_SESSION_ABSOLUTE_SECONDS },
  };
}
