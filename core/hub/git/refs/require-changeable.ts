import { notFound, ServiceError } from "../../../errors.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";

/** @throws ServiceError `forbidden` for the content of a repository that its owner has set read-only (S137) */
export function requireChangeable({ isReadOnly }: Pick<Repo, "isReadOnly">): void {
  if (isReadOnly) throw new ServiceError("forbidden", "This repository is read-only. Its settings say so, and can be changed.");
}

/**
 * Asks once more before refs change, of the repository as it is now: git, places and other changes were waited for (S135).
 * @throws ServiceError `not_found` when it was deleted meanwhile; whatever `ask` throws
 */
export async function askAgain({ id }: Pick<Repo, "id">, ask: (repo: Repo) => Promise<void>): Promise<void> {
  const repo = await readRepo(id);
  if (!repo) throw notFound("Repository");
  await ask(repo);
}

/** Whether a ref is one that is neither deleted nor changed otherwise than forward. */
export function isProtectedRef(
  { defaultBranch, isDefaultBranchProtected }: Pick<Repo, "defaultBranch" | "isDefaultBranchProtected">,
  ref: string,
): boolean {
  return isDefaultBranchProtected && ref === `refs/heads/${defaultBranch}`;
}
