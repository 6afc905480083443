import type { RepoType } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import type { Action, Resources, rules } from "../../access/rules.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { readRepos } from "./read-repos.ts";
import { ownerColumns, type Repo, repoResource } from "./repo.ts";

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
  const repo = await lookUp(wanted, tx);
  if (!repo) return refuseAbsent(actor, wanted, tx);
  await requirePermission(actor, action, repoResource(repo), { what: "Repository", tx });
  return repo;
}

/**
 * A member who has not met what the organization asks is told so of whatever is private there, and therefore of what is not there as
 * well: a stolen password must not find out the names of repositories (S136).
 */
async function refuseAbsent(actor: Actor, { owner: handle }: RepoName, tx: Db): Promise<never> {
  const isMember = actor.kind === "person" || actor.kind === "token";
  const owner = isMember && isNamePart(handle) ? await findOwner(handle, tx) : undefined;
  if (owner?.kind === "organization") {
    const nothing = { repoId: "", isPrivate: true, isGated: false, createdById: null, createdByClientId: null };
    await requirePermission(actor, "repo.read", { ...ownerColumns(owner), ...nothing }, { what: "Repository", tx });
  }
  throw notFound("Repository");
}

// A form's action is given whatever a browser sends as its repository.
const isNamePart = (part: unknown): part is string =>
  typeof part === "string" && part.length <= NAME_MAX_CHARACTERS && !part.includes("\0") && part.isWellFormed();

async function lookUp({ type, owner, name }: RepoName, tx: Db): Promise<Repo | undefined> {
  if (![type, owner, name].every(isNamePart)) return undefined;
  const [handle, canonical] = [owner.toLowerCase(), name.toLowerCase()];
  const ownerId = Prisma.sql`(SELECT coalesce(user_id, org_id) FROM handle WHERE handle = ${handle})`;
  const [repo] = await readRepos(Prisma.sql`r.owner_id = ${ownerId} AND r.type = ${type} AND r.name_canonical = ${canonical}`, {
    tx,
  });
  if (repo) return repo;
  const [moved] = await readRepos(
    Prisma.sql`r.id = (SELECT repo_id FROM repo_former_name WHERE owner_id = ${ownerId} AND type = ${type} AND name_canonical = ${canonical})`,
    { tx },
  );
  return moved;
}
