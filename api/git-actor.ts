import type { Context } from "hono";
import type { Actor } from "#core/access/actor.ts";
import { ServiceError } from "#core/errors.ts";
import { actorOf, actorOfToken } from "./actor.ts";

/**
 * Who a request of git or Git LFS comes from (docs/specification/repositories-and-git.md#git-over-http). Both know HTTP's Basic
 * authentication only: the token is the password, under any user name, or the user name where there is no password. What knows better
 * sends a bearer token.
 * @throws ServiceError `unauthorized`
 */
export async function gitActorOf(c: Context): Promise<Actor> {
  const [, credentials] = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(c.req.header("Authorization") ?? "") ?? [];
  if (credentials === undefined) return actorOf(c);
  const [, userName = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, "base64").toString("utf8")) ?? [];
  return actorOfToken(password || userName);
}

/** Credentials are what git asks its person for on a 401 that names Basic, and on nothing else. */
export const basicChallenge = `Basic realm="An access token as the password", charset="UTF-8"`;

/**
 * What somebody without a token may not see cannot be told apart from what they would see with one: git is to ask for a token for
 * both, as it does for what is not there (S136).
 */
export function asChallenge(actor: Actor, error: unknown): unknown {
  const isHidden = error instanceof ServiceError && error.code === "not_found" && error.wireCode === "RepoNotFound";
  if (actor.kind !== "anonymous" || !isHidden) return error;
  return new ServiceError("unauthorized", "Repository not found, or it takes an access token to see it.", { cause: error });
}
