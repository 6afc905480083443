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

export async function openForChange(
  actor: Actor,
  name: RepoName,
  action: "repo.write" | "repo.manage" = "repo.write",
): Promise<{ repo: Repo; path: string }> {
  const repo = await findRepo(actor, name, action);
  requireChangeable(repo);
  return { repo, path: await openRepository(repo) };
}

export async function findRevision(repo: Repo, path: string, revision: string): Promise<Revision> {
  return withObjects(path, (objects) => resolveRevision(objects, repo, revision));
}

export async function findCommit(repo: Repo, path: string, revision: string): Promise<string> {
  const { sha } = await findRevision(repo, path, revision);
  if (!sha) throw notFound("Revision");
  return sha;
}

/** The caller must have checked that the actor may see the repository. */
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
  if (branch !== repo.defaultBranch && !(await resolveRef(path, ref))) throw notFound("Revision");
  return ref;
}

export async function requireOpenPullRequest(actor: Actor, repo: Repo, num: number): Promise<void> {
  const refusal = await pullRequestPushRefusal(actor, repo, num);
  if (refusal) throw new ServiceError("forbidden", refusal);
}
