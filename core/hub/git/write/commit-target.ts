import type { Actor } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import { numOfPullRequestRef } from "../../discussions/discussion.ts";
import { requireDiscussions } from "../../discussions/open-discussion.ts";
import { pullRequestPushRefusal } from "../../discussions/pull-request-push-refusal.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { isRefName } from "../refs/ref-name.ts";
import { requireChangeable } from "../refs/require-changeable.ts";
import { resolveRef } from "../refs/resolve-ref.ts";

/**
 * The ref that a commit is for, requested as `main` or `refs/pr/3`; for a commit that opens a pull request, the branch that it proposes
 * to change. The caller has checked that the actor may see the repository.
 * @throws ServiceError `forbidden`, `insufficient_scope`, `unauthorized`; `not_found` (RevisionNotFound) for what is not a branch
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

async function requireOpenPullRequest(actor: Actor, repo: Repo, num: number): Promise<void> {
  const refusal = await pullRequestPushRefusal(actor, repo, num);
  if (refusal) throw new ServiceError("forbidden", refusal);
}
