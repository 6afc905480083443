import type { Actor } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import { numOfPullRequestRef } from "../../discussions/discussion.ts";
import { requireDiscussions } from "../../discussions/open-discussion.ts";
import { pullRequestPushRefusal } from "../../discussions/pull-request-push-refusal.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { withObjects } from "../read/git-objects.ts";
import { type Revision, resolveRevision } from "../read/revision.ts";
import { resolveRef } from "../refs/git-refs.ts";
import { isRefName } from "../refs/ref-name.ts";
import { requireChangeable } from "../refs/require-changeable.ts";
import { openRepository } from "../repository.ts";

/**
 * Finds a repository before its branches and tags are changed, with the folder of its git data.
 * @throws ServiceError as findRepo; `forbidden` if it is read-only
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

/** Resolves a revision. @throws ServiceError `not_found` (RevisionNotFound) */
export async function findRevision(repo: Repo, path: string, revision: string): Promise<Revision> {
  return withObjects(path, (objects) => resolveRevision(objects, repo, revision));
}

/** Resolves a revision to its commit. @throws ServiceError `not_found` (RevisionNotFound) */
export async function findCommit(repo: Repo, path: string, revision: string): Promise<string> {
  const { sha } = await findRevision(repo, path, revision);
  if (!sha) throw notFound("Revision");
  return sha;
}

/**
 * The ref that a commit is for, requested as `main` or `refs/pr/3`; for a commit that opens a pull request, the branch that it proposes
 * to change. The caller has checked that the actor may see the repository.
 * @throws ServiceError `forbidden`, `insufficient_scope`, `unauthorized`; `conflict` if pull requests are disabled; `not_found`
 * (RevisionNotFound) for anything else
 */
export async function resolveCommitTarget(
  actor: Actor,
  repo: Repo,
  path: string,
  { revision, isPullRequest }: { revision: string; isPullRequest: boolean },
): Promise<string> {
  const num = numOfPullRequestRef(revision);
  if (isPullRequest) await requireDiscussions(actor, repo);
  else if (num === undefined) await requirePermission(actor, "repo.write", repoResource(repo), { what: "Repository" });
  else await requireOpenPullRequest(actor, repo, num);
  requireChangeable(repo);
  if (num !== undefined && !isPullRequest) return revision;
  const branch = revision.replace(/^refs\/heads\//, "");
  if (!isRefName(branch)) throw notFound("Revision");
  const ref = `refs/heads/${branch}`;
  // A default branch without commits gets its first one this way; other branches must be created first.
  if (branch !== repo.defaultBranch && !(await resolveRef(path, ref))) throw notFound("Revision");
  return ref;
}

/** @throws ServiceError `forbidden` for a pull request to which the actor may not push */
export async function requireOpenPullRequest(actor: Actor, repo: Repo, num: number): Promise<void> {
  const refusal = await pullRequestPushRefusal(actor, repo, num);
  if (refusal) throw new ServiceError("forbidden", refusal);
}
