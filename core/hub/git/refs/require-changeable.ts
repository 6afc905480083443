import { notFound, ServiceError } from "../../../errors.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";

/** @throws ServiceError `forbidden` for the content of a repository that its owner has set read-only (S137) */
export function requireChangeable({ isReadOnly }: Pick<Repo, "isReadOnly">): void {
  if (isReadOnly) throw new ServiceError("forbidden", "This repository is read-only. Its settings say so, and can be changed.");
}

/**
 * Checks permission again before refs change, on the repository as it is now, after the waits for git, slots and other changes (S135).
 * @throws ServiceError `not_found` when it was deleted meanwhile; whatever `ask` throws
 */
export async function askAgain({ id }: Pick<Repo, "id">, ask: (repo: Repo) => Promise<void>): Promise<void> {
  const repo = await readRepo(id);
  if (!repo) throw notFound("Repository");
  await ask(repo);
}

/** Whether a ref may neither be deleted nor changed except by a fast-forward. */
export function isProtectedRef(
  { defaultBranch, isDefaultBranchProtected }: Pick<Repo, "defaultBranch" | "isDefaultBranchProtected">,
  ref: string,
): boolean {
  return isDefaultBranchProtected && ref === `refs/heads/${defaultBranch}`;
}
