import { env } from "../../env.ts";
import { SITE_SESSION_ABSOLUTE_SECONDS } from "./session-lifetime.ts";

export type SiteSessionCookie = {
  name: string;
  options: { httpOnly: true; secure: boolean; sameSite: "lax"; path: "/"; maxAge: number };
};

/**
 * The cookie that carries the session token (S111). With https it has the `__Host-` prefix, so that no sub-domain and no plain
 * http page can set one. Cookies do not tell ports apart: an ORIGIN with a port has it in the cookie's name, so that two
 * services on one machine do not sign each other's people out.
 */
export function siteSessionCookie(): SiteSessionCookie {
  const { protocol, port } = new URL(env().ORIGIN);
  const secure = protocol === "https:";
  return {
    name: `${secure ? "__Host-" : ""}session${port ? `-${port}` : ""}`,
    options: { httpOnly: true, secure, sameSite: "lax", path: "/", maxAge: SITE_SESSION_ABSOLUTE_SECONDS },
  };
}
