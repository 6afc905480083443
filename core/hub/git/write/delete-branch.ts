import type { Actor } from "../../../access/actor.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import type { RepoName } from "../../repos/find-repo.ts";
import type { Repo } from "../../repos/repo.ts";
import { moveRefs } from "../refs/move-refs.ts";
import { isRefName } from "../refs/ref-name.ts";
import { resolveRef } from "../refs/resolve-ref.ts";
import { openForChange } from "./open-for-change.ts";

/**
 * Takes a branch away; its commits stay wherever they are reachable from.
 * @throws ServiceError `conflict` (the default branch), `not_found` (RevisionNotFound), `forbidden`, `insufficient_scope`, `unauthorized`
 */
export async function deleteBranch(actor: Actor, name: RepoName, branch: string): Promise<Repo> {
  const { repo, path } = await openForChange(actor, name);
  if (!isRefName(branch)) throw notFound("Revision");
  if (branch === repo.defaultBranch) {
    throw new ServiceError("conflict", `${branch} is the default branch: choose another one before you delete it.`);
  }
  const ref = `refs/heads/${branch}`;
  const oldSha = await resolveRef(path, ref);
  if (!oldSha) throw notFound("Revision");
  return (await moveRefs(repo, actor, path, [{ ref, oldSha, newSha: null }])).repo;
}
