import { env } from "../../env.ts";
import { SITE_SESSION_ABSOLUTE_SECONDS } from "./start-site-session.ts";

export type SiteSessionCookie = {
  name: string;
  options: { httpOnly: true; secure: boolean; sameSite: "lax"; path: "/"; maxAge: number };
};

/** S111: subdomains and plain http pages cannot set `__Host-` cookies. The name has the port, because cookies ignore ports. */
export function siteSessionCookie(): SiteSessionCookie {
  const { protocol, port } = new URL(env().ORIGIN);
  const secure = protocol === "https:";
  return {
    name: `${secure ? "__Host-" : ""}session${port ? `-${port}` : ""}`,
    options: { httpOnly: true, secure, sameSite: "lax", path: "/", maxAge: SITE_SESSION_ABSOLUTE_SECONDS },
  };
}
