import type { RepoType } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { may, requirePermission } from "../../access/may.ts";
import { type Action, type Resources, rules } from "../../access/rules.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { readRepoByName } from "./read-repos.ts";
import { type Repo, repoResource } from "./repo.ts";

/** What a repository is called from outside. */
export type RepoName = { type: RepoType; owner: string; name: string };

/** The actions that are done to a repository. */
export type RepoAction = {
  [A in Action]: Resources[(typeof rules)[A]["on"]] extends Resources["repo"]
    ? (typeof rules)[A]["on"] extends "repo"
      ? A
      : never
    : never;
}[Action];

const NAME_MAX_CHARACTERS = 200;

/**
 * The repository of a name, for somebody who may do `action` to it. A name that it had before it was moved finds it too, so that
 * clones and links go on working; the caller sees by `fullName` where it is now.
 * @throws ServiceError `not_found` (RepoNotFound) for what is not there and what the actor may not see, alike (S136); `forbidden`,
 * `insufficient_scope` or `unauthorized` for what they may see but not do
 */
export async function findRepo(actor: Actor, wanted: RepoName, action: RepoAction = "repo.read", tx: Db = db()): Promise<Repo> {
  const { type, owner, name } = wanted;
  if (![type, owner, name].every(isNamePart)) throw notFound("Repository");
  const { repo, orgId } = await readRepoByName({ type, owner: owner.toLowerCase(), name: name.toLowerCase() }, tx);
  if (!repo) return refuseAbsent(actor, orgId, action, tx);
  await requirePermission(actor, action, repoResource(repo), { what: "Repository", tx });
  return repo;
}

/**
 * A member who has not met what the organization asks is told so of whatever is private there, and therefore of what is not there as
 * well: a stolen password must not find out the names of repositories (S136). The same is asked as of one that is hidden, by the same
 * statements, so that the time does not find them out either.
 */
async function refuseAbsent(actor: Actor, ownerOrgId: string | null, action: RepoAction, tx: Db): Promise<never> {
  if (ownerOrgId) {
    const nothing = { repoId: "", isPrivate: true, isGated: false, createdById: null, createdByClientId: null };
    const hidden = { ...nothing, ownerUserId: null, ownerOrgId };
    if (rules[action].refusal !== "not_found") await may(actor, action, hidden, tx);
    await requirePermission(actor, "repo.read", hidden, { what: "Repository", tx });
  }
  throw notFound("Repository");
}

// A form's action is given whatever a browser sends as its repository.
const isNamePart = (part: unknown): part is string =>
  typeof part === "string" && part.length <= NAME_MAX_CHARACTERS && !part.includes("\0") && part.isWellFormed();
