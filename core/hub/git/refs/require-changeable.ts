import type { Actor, ActorNow } from "../../../access/actor.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";

/** @throws ServiceError `forbidden` for the content of a repository that its owner has set read-only (S137) */
export function requireChangeable({ isReadOnly }: Pick<Repo, "isReadOnly">): void {
  if (isReadOnly)
    throw new ServiceError("forbidden", "This repository is read-only. Its maintainers can change this in its settings.");
}

/**
 * Checks permission again before refs change, for the actor and the repository as they are now, after the waits for git, slots
 * and other changes (S114, S135).
 * @returns the current actor
 * @throws ServiceError `not_found` when the repository was deleted meanwhile; whatever `actorNow` and `ask` throw
 */
export async function recheckPermission({ id }: Pick<Repo, "id">, actorNow: ActorNow, ask: PermissionCheck): Promise<Actor> {
  const actor = await actorNow();
  const repo = await readRepo(id);
  if (!repo) throw notFound("Repository");
  await ask(actor, repo);
  return actor;
}

/** Checks whether the actor may make the change in the repository. */
export type PermissionCheck = (actor: Actor, repo: Repo) => void | Promise<void>;

/** Whether a ref may neither be deleted nor changed except by a fast-forward. */
export function isProtectedRef(
  { defaultBranch, isDefaultBranchProtected }: Pick<Repo, "defaultBranch" | "isDefaultBranchProtected">,
  ref: string,
): boolean {
  return isDefaultBranchProtected && ref === `refs/heads/${defaultBranch}`;
}
