import type { Actor, ActorNow } from "../../../access/actor.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import type { RepoName } from "../../repos/find-repo.ts";
import type { Repo } from "../../repos/repo.ts";
import { moveRefs } from "../refs/move-refs.ts";
import { isRefName } from "../refs/ref-name.ts";
import { resolveRef } from "../refs/resolve-ref.ts";
import { openForChange } from "./open-for-change.ts";

/**
 * Takes a branch away; its commits stay wherever they are reachable from.
 * @param actorNow resolves the actor again just before the refs change (S114)
 * @throws ServiceError `conflict` (the default branch), `not_found` (RevisionNotFound), `forbidden`, `insufficient_scope`, `unauthorized`
 */
export async function deleteBranch(
  actor: Actor,
  name: RepoName,
  branch: string,
  actorNow: ActorNow = async () => actor,
): Promise<Repo> {
  const { repo, path } = await openForChange(actor, name);
  if (!isRefName(branch)) throw notFound("Revision");
  const ask = (_: Actor, { defaultBranch }: Repo) => {
    if (branch !== defaultBranch) return;
    throw new ServiceError("conflict", `${branch} is the default branch: choose another one before you delete it.`);
  };
  ask(actor, repo);
  const ref = `refs/heads/${branch}`;
  const oldSha = await resolveRef(path, ref);
  if (!oldSha) throw notFound("Revision");
  return (await moveRefs({ repo, path, actorNow, ask }, [{ ref, oldSha, newSha: null }])).repo;
}
