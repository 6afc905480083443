import { EMPTY_TREE } from "../git/read/read-diff.ts";
import { readPatch } from "../git/read/read-patch.ts";
import { openRepository } from "../git/repository.ts";
import type { Repo } from "../repos/repo.ts";
import type { Discussion } from "./discussion.ts";
import { pullRequestRange } from "./pull-request-range.ts";

/**
 * What a pull request changes, as `git diff` writes it; null when its commits are gone, and when it is too large to be sent. It asks
 * nobody's permission: whoever calls has asked for `repo.read_content`.
 */
export async function readPullRequestPatch(repo: Repo, discussion: Discussion): Promise<string | null> {
  const range = await pullRequestRange(repo, discussion);
  if (!range) return null;
  const { headSha, baseSha } = range;
  return readPatch(await openRepository(repo), baseSha ?? EMPTY_TREE, headSha, { sinceMergeBase: baseSha !== null });
}
