import type { RepoType } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { may, requirePermission } from "../../access/may.ts";
import type { Resources } from "../../access/rule.ts";
import { type Action, rules } from "../../access/rules.ts";
import { findUser } from "../../accounts/users/find-user.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { readRepoByName } from "./read-repos.ts";
import { type Repo, repoResource } from "./repo.ts";

export type RepoName = { type: RepoType; owner: string; name: string };

export type RepoAction = {
  [A in Action]: Resources[(typeof rules)[A]["on"]] extends Resources["repo"]
    ? (typeof rules)[A]["on"] extends "repo"
      ? A
      : never
    : never;
}[Action];

const NAME_MAX_CHARACTERS = 200;

/**
 * Also finds a repository by a former name.
 * @throws ServiceError `not_found` if there is no such repository or the actor may not see it (S136)
 */
export async function findRepo(actor: Actor, wanted: RepoName, action: RepoAction = "repo.read", tx: Db = db()): Promise<Repo> {
  const { type, owner, name } = wanted;
  if (![type, owner, name].every(isNamePart)) throw notFound("Repository");
  const { repo, orgId } = await readRepoByName({ type, owner: owner.toLowerCase(), name: name.toLowerCase() }, tx);
  if (!repo) return refuseAbsent(actor, orgId, action, tx);
  await requirePermission(actor, action, repoResource(repo), { what: "Repository", tx });
  return repo;
}

/** Neither the response nor its time tells a restricted member which private names exist (S136). */
async function refuseAbsent(actor: Actor, ownerOrgId: string | null, action: RepoAction, tx: Db): Promise<never> {
  if (ownerOrgId) {
    const nothing = { repoId: "", isPrivate: true, isGated: false, createdById: null, createdByClientId: null };
    const hidden = { ...nothing, ownerUserId: null, ownerOrgId };
    if (rules[action].refusal !== "not_found") await may(actor, action, hidden, tx);
    await requirePermission(actor, "repo.read", hidden, { what: "Repository", tx });
  }
  throw notFound("Repository");
}

// A browser can send any value to a form's action.
const isNamePart = (part: unknown): part is string =>
  typeof part === "string" && part.length <= NAME_MAX_CHARACTERS && !part.includes("\0") && part.isWellFormed();

export async function findCreator({ createdById }: Pick<Repo, "createdById">): Promise<string | undefined> {
  const user = createdById === null ? undefined : await findUser(createdById);
  return user && user.disabledAt === null ? user.username : undefined;
}
