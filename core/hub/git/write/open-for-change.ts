import type { Actor } from "../../../access/actor.ts";
import { notFound } from "../../../errors.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import type { Repo } from "../../repos/repo.ts";
import { withObjects } from "../read/git-objects.ts";
import { type Revision, resolveRevision } from "../read/revision.ts";
import { requireChangeable } from "../refs/require-changeable.ts";
import { openRepository } from "../repository.ts";

/**
 * A repository whose branches and tags are about to be changed, with the folder of its git data.
 * @throws ServiceError as findRepo; `forbidden` where it is read-only
 */
export async function openForChange(
  actor: Actor,
  name: RepoName,
  action: "repo.write" | "repo.manage" = "repo.write",
): Promise<{ repo: Repo; path: string }> {
  const repo = await findRepo(actor, name, action);
  requireChangeable(repo);
  return { repo, path: await openRepository(repo) };
}

/** What a revision stands for. @throws ServiceError `not_found` (RevisionNotFound) */
export async function findRevision(repo: Repo, path: string, revision: string): Promise<Revision> {
  return withObjects(path, (objects) => resolveRevision(objects, repo, revision));
}

/** The commit that a revision stands for. @throws ServiceError `not_found` (RevisionNotFound) */
export async function findCommit(repo: Repo, path: string, revision: string): Promise<string> {
  const { sha } = await findRevision(repo, path, revision);
  if (!sha) throw notFound("Revision");
  return sha;
}
