import type { Actor, ActorNow } from "../../../access/actor.ts";
import { ServiceError } from "../../../errors.ts";
import type { RepoName } from "../../repos/find-repo.ts";
import type { Repo } from "../../repos/repo.ts";
import { moveRefs } from "../refs/move-refs.ts";
import { tagRef } from "../refs/ref-name.ts";
import { resolveRef } from "../refs/resolve-ref.ts";
import { tagMessage } from "./commit-message.ts";
import { findCommit, openForChange } from "./open-for-change.ts";
import { signatureOf } from "./signature.ts";
import { writeTag } from "./write-objects.ts";

export type NewTag = {
  tag: string;
  /** Any revision; the default branch when it is left out. */
  revision?: string | undefined;
  /** Makes it an annotated one, with who made it and when. */
  message?: string | undefined;
};

/**
 * Gives a commit a name that stays.
 * @param actorNow resolves the actor again just before the refs change (S114)
 * @throws ServiceError `invalid_request` (name, message), `conflict` (it is there), `not_found` (RevisionNotFound), `forbidden`,
 * `insufficient_scope`, `unauthorized`
 * @returns the commit
 */
export async function createTag(
  actor: Actor,
  name: RepoName,
  { tag, revision, message = "" }: NewTag,
  actorNow: ActorNow = async () => actor,
): Promise<{ repo: Repo; sha: string }> {
  const { repo, path } = await openForChange(actor, name);
  const ref = tagRef(tag);
  if (await resolveRef(path, ref)) throw new ServiceError("conflict", `The tag ${tag} is there already.`, { field: "tag" });
  const sha = await findCommit(repo, path, revision ?? repo.defaultBranch);
  const text = tagMessage(message);
  const newSha = text ? await writeTag(path, { tag, commit: sha, message: text, signature: await signatureOf(actor) }) : sha;
  const recorded = await moveRefs({ repo, path, actorNow }, [{ ref, oldSha: null, newSha }]);
  return { repo: recorded.repo, sha };
}
