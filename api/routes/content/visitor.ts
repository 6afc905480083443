import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { type Actor, personActor } from "#core/access/actor.ts";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { countAgainst } from "#core/fair-queue/party.ts";
import { actorOf } from "../../actor.ts";

/**
 * The actor of a request for a file: the token's holder, or the user of a page, which shows pictures of a repository and links to its
 * files. The cookie is only valid for reading: other sites do not send it (`SameSite=Lax`) and may not read a response that depends on it
 * (any origin may ask, none with credentials; S53).
 */
export async function visitorOf(c: Context): Promise<Actor> {
  const token = c.req.header("Authorization") ? undefined : getCookie(c, siteSessionCookie().name);
  const session = token ? await findSiteSession(token) : undefined;
  if (!session) return actorOf(c);
  const actor = personActor(session);
  countAgainst(actor);
  return actor;
}
