import { repoTypeOfSegment } from "@keyhook/sdk";
import type { Context } from "hono";
import type { Actor } from "#core/access/actor.ts";
import { ServiceError } from "#core/errors.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import { actorOf, actorOfToken } from "./actor.ts";

export const gitPaths = ["/:owner/:name", "/:type{models|datasets|spaces}/:owner/:name"] as const;

export function repoNameOf({ type, owner = "", name = "" }: { type?: string; owner?: string; name?: string }): RepoName {
  return { type: repoTypeOfSegment(type ?? "models") ?? "model", owner, name: name.replace(/\.git$/, "") };
}

/** Git and Git LFS know only Basic authentication. The token is the password, or the user name with an empty password. */
export async function gitActorOf(c: Context): Promise<Actor> {
  const [, credentials] = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(c.req.header("Authorization") ?? "") ?? [];
  if (credentials === undefined) return actorOf(c);
  const [, userName = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, "base64").toString("utf8")) ?? [];
  return actorOfToken(password || userName);
}

/** Git prompts for credentials only after a 401 that names Basic. */
export const basicChallenge = `Basic realm="An access token as the password", charset="UTF-8"`;

/** A caller without a token must not distinguish hidden from missing repositories (S136). */
export function asChallenge(actor: Actor, error: unknown): unknown {
  const isHidden = error instanceof ServiceError && error.code === "not_found" && error.wireCode === "RepoNotFound";
  if (actor.kind !== "anonymous" || !isHidden) return error;
  return new ServiceError("unauthorized", "Repository not found, or an access token is required to see it.", { cause: error });
}
