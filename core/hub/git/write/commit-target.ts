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
 * The ref that a commit is for, asked for as `main` or `refs/pr/3`; of a commit that is to open a pull request, the branch it proposes
 * to change. It is asked of whoever may see the repository.
 * @throws ServiceError `forbidden`, `insufficient_scope`, `unauthorized`; `not_found` (RevisionNotFound) for what is no branch
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
  // A default branch without commits gets its first one this way; any other branch is made first.
  if (branch !== repo.defaultBranch && !(await resolveRef(path, ref))) throw notFound("Revision");
  return ref;
}

async function requireOpenPullRequest(actor: Actor, repo: Repo, num: number): Promise<void> {
  const refusal = await pullRequestPushRefusal(actor, repo, num);
  if (refusal) throw new ServiceError("forbidden", refusal);
}
