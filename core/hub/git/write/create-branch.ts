import type { Actor, ActorNow } from "../../../access/actor.ts";
import { ServiceError } from "../../../errors.ts";
import type { RepoName } from "../../repos/find-repo.ts";
import type { Repo } from "../../repos/repo.ts";
import { moveRefs } from "../refs/move-refs.ts";
import type { RefChange } from "../refs/ref-change.ts";
import { branchRef } from "../refs/ref-name.ts";
import { isProtectedRef } from "../refs/require-changeable.ts";
import { resolveRef } from "../refs/resolve-ref.ts";
import { findRevision, openForChange } from "./open-for-change.ts";
import { signatureOf } from "./signature.ts";
import { writeRootCommit } from "./write-objects.ts";

export type NewBranch = {
  branch: string;
  /** Any revision; by default the default branch. */
  startingPoint?: string | undefined;
  /** Starts it with its own commit without files. */
  isEmpty?: boolean | undefined;
  /** Moves an existing branch; without `startingPoint` and `isEmpty` it stays unchanged. */
  isOverwriting?: boolean | undefined;
};

/**
 * Creates a branch. In a repository without commits the default branch gets an empty first commit, so that both have it in common.
 * @param actorNow resolves the actor again just before the refs change (S114)
 * @throws ServiceError `invalid_request` (the name), `conflict` (it exists), `not_found` (RevisionNotFound: the starting point),
 * `forbidden`, `insufficient_scope`, `unauthorized`
 * @returns the commit that the branch is at
 */
export async function createBranch(
  actor: Actor,
  name: RepoName,
  input: NewBranch,
  actorNow: ActorNow = async () => actor,
): Promise<{ repo: Repo; sha: string }> {
  const { branch, startingPoint, isEmpty = false, isOverwriting = false } = input;
  const { repo, path } = await openForChange(actor, name);
  const ref = branchRef(branch);
  const present = await resolveRef(path, ref);
  if (present && !isOverwriting)
    throw new ServiceError("conflict", `The branch ${branch} is there already.`, { field: "branch" });
  if (present && startingPoint === undefined && !isEmpty) return { repo, sha: present };
  const ask = (_: Actor, now: Repo) => {
    if (!present || !isProtectedRef(now, ref)) return;
    throw new ServiceError("forbidden", `${branch} is protected: it is not moved elsewhere. The repository's settings say so.`);
  };
  ask(actor, repo);
  const { sha, others } = isEmpty
    ? { sha: await firstCommit(actor, path), others: [] }
    : await startAt(actor, repo, path, { ref, startingPoint: startingPoint ?? repo.defaultBranch });
  if (sha === present) return { repo, sha };
  const recorded = await moveRefs({ repo, path, actorNow, ask }, [...others, { ref, oldSha: present, newSha: sha }]);
  return { repo: recorded.repo, sha };
}

async function startAt(
  actor: Actor,
  repo: Repo,
  path: string,
  { ref, startingPoint }: { ref: string; startingPoint: string },
): Promise<{ sha: string; others: RefChange[] }> {
  const revision = await findRevision(repo, path, startingPoint);
  if (revision.sha) return { sha: revision.sha, others: [] };
  const sha = await firstCommit(actor, path);
  const unborn = `refs/heads/${repo.defaultBranch}`;
  return { sha, others: unborn === ref ? [] : [{ ref: unborn, oldSha: null, newSha: sha }] };
}

async function firstCommit(actor: Actor, path: string): Promise<string> {
  return writeRootCommit(path, { message: "Initial commit\n", signature: await signatureOf(actor) });
}
