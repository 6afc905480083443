import type { Actor, ActorNow } from "../../../access/actor.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";

export function requireChangeable({ isReadOnly }: Pick<Repo, "isReadOnly">): void {
  if (isReadOnly)
    throw new ServiceError("forbidden", "This repository is read-only. Its maintainers can change this in its settings.");
}

/** Call this just before refs change: the right may have been removed meanwhile (S114, S135). */
export async function recheckPermission({ id }: Pick<Repo, "id">, actorNow: ActorNow, ask: PermissionCheck): Promise<Actor> {
  const actor = await actorNow();
  const repo = await readRepo(id);
  if (!repo) throw notFound("Repository");
  await ask(actor, repo);
  return actor;
}

export type PermissionCheck = (actor: Actor, repo: Repo) => void | Promise<void>;

export function isProtectedRef(
  { defaultBranch, isDefaultBranchProtected }: Pick<Repo, "defaultBranch" | "isDefaultBranchProtected">,
  ref: string,
): boolean {
  return isDefaultBranchProtected && ref === `refs/heads/${defaultBranch}`;
}
