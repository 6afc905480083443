import type { Actor, ActorNow } from "../../../access/actor.ts";
import { notFound } from "../../../errors.ts";
import type { RepoName } from "../../repos/find-repo.ts";
import type { Repo } from "../../repos/repo.ts";
import { moveRefs } from "../refs/move-refs.ts";
import { isRefName } from "../refs/ref-name.ts";
import { resolveRef } from "../refs/resolve-ref.ts";
import { openForChange } from "./open-for-change.ts";

/**
 * Takes a tag away.
 * @param actorNow resolves the actor again just before the refs change (S114)
 * @throws ServiceError `not_found` (RevisionNotFound), `forbidden`, `insufficient_scope`, `unauthorized`
 */
export async function deleteTag(
  actor: Actor,
  name: RepoName,
  tag: string,
  actorNow: ActorNow = async () => actor,
): Promise<Repo> {
  const { repo, path } = await openForChange(actor, name);
  const ref = `refs/tags/${tag}`;
  const oldSha = isRefName(tag) ? await resolveRef(path, ref) : null;
  if (!oldSha) throw notFound("Revision");
  return (await moveRefs({ repo, path, actorNow }, [{ ref, oldSha, newSha: null }])).repo;
}
