import type { Context } from "hono";
import type { Actor } from "#core/access/actor.ts";
import { ServiceError } from "#core/errors.ts";
import { actorOf, actorOfToken } from "./actor.ts";

/**
 * The actor of a git or Git LFS request (docs/specification/repositories-and-git.md#git-over-http). Both know only HTTP's Basic
 * authentication: the token is the password, with any user name, or the user name without a password. Better clients send a bearer token.
 * @throws ServiceError `unauthorized`
 */
export async function gitActorOf(c: Context): Promise<Actor> {
  const [, credentials] = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(c.req.header("Authorization") ?? "") ?? [];
  if (credentials === undefined) return actorOf(c);
  const [, userName = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, "base64").toString("utf8")) ?? [];
  return actorOfToken(password || userName);
}

/** Git asks its user for credentials only after a 401 that names Basic. */
export const basicChallenge = `Basic realm="An access token as the password", charset="UTF-8"`;

/**
 * A caller without a token must not be able to tell what is hidden from what does not exist: git should ask for a token in both cases
 * (S136).
 */
export function asChallenge(actor: Actor, error: unknown): unknown {
  const isHidden = error instanceof ServiceError && error.code === "not_found" && error.wireCode === "RepoNotFound";
  if (actor.kind !== "anonymous" || !isHidden) return error;
  return new ServiceError("unauthorized", "Repository not found, or it takes an access token to see it.", { cause: error });
}
