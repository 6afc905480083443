import { ServiceError } from "../../../errors.ts";
import type { Repo } from "../../repos/repo.ts";

/** @throws ServiceError `forbidden` for the content of a repository that its owner has set read-only (S137) */
export function requireChangeable({ isReadOnly }: Pick<Repo, "isReadOnly">): void {
  if (isReadOnly) throw new ServiceError("forbidden", "This repository is read-only. Its settings say so, and can be changed.");
}

/** Whether a ref is one that is neither deleted nor changed otherwise than forward. */
export function isProtectedRef(
  { defaultBranch, isDefaultBranchProtected }: Pick<Repo, "defaultBranch" | "isDefaultBranchProtected">,
  ref: string,
): boolean {
  return isDefaultBranchProtected && ref === `refs/heads/${defaultBranch}`;
}
