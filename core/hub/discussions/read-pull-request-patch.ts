import { EMPTY_TREE } from "../git/read/read-diff.ts";
import { readPatch } from "../git/read/read-patch.ts";
import { openRepository } from "../git/repository.ts";
import type { Repo } from "../repos/repo.ts";
import type { Discussion } from "./discussion.ts";
import { pullRequestRange } from "./pull-request-range.ts";

/**
 * The changes of a pull request as `git diff` prints them; null when its commits are gone or the patch is too large to send. It checks
 * no permissions: the caller has checked `repo.read_content`.
 */
export async function readPullRequestPatch(repo: Repo, discussion: Discussion): Promise<string | null> {
  const range = await pullRequestRange(repo, discussion);
  if (!range) return null;
  const { headSha, baseSha } = range;
  return readPatch(await openRepository(repo), baseSha ?? EMPTY_TREE, headSha, { sinceMergeBase: baseSha !== null });
}
