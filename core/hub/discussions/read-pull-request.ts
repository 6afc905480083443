import { db } from "../../db.ts";
import { EMPTY_TREE, readPatch } from "../git/read/read-diff.ts";
import { runWalkGit, walker } from "../git/read/walk.ts";
import { resolveRef } from "../git/refs/git-refs.ts";
import { openRepository } from "../git/repository.ts";
import type { Repo } from "../repos/repo.ts";
import { type Discussion, pullRequestRef } from "./discussion.ts";
import { tryMerge } from "./merge-tree.ts";
import type { MergedCommits } from "./properties.ts";

export type PullRequestState = {
  headSha: string | null;
  baseSha: string | null;
  /** `ahead` counts commits that only the pull request has, and `behind` those that only the base has. */
  ahead: number;
  behind: number;
  /** `nothing`: the base already contains all commits. `gone`: the commits or the base were deleted. */
  merge: "clean" | "nothing" | "conflicts" | "unrelated" | "gone";
  filesWithConflicts: string[];
};

const none: PullRequestState = { headSha: null, baseSha: null, ahead: 0, behind: 0, merge: "gone", filesWithConflicts: [] };

/** Call this only for users who can read the content: conflicts reveal whether a file has the lines that an author guessed. */
export async function readPullRequestState(
  repo: Repo,
  { num, baseRef }: Pick<Discussion, "num" | "baseRef">,
): Promise<PullRequestState> {
  if (!baseRef) return none;
  const path = await openRepository(repo);
  const [headSha, baseSha] = await Promise.all([resolveRef(path, pullRequestRef(num)), resolveRef(path, baseRef)]);
  if (!headSha) return { ...none, baseSha };
  if (!baseSha) {
    return { ...none, headSha, merge: baseRef === `refs/heads/${repo.defaultBranch}` ? "clean" : "gone" };
  }
  const [ahead, behind] = await countApart(path, headSha, baseSha);
  const shas = { headSha, baseSha, ahead, behind };
  if (ahead === 0) return { ...none, ...shas, merge: "nothing" };
  const merged = await tryMerge(path, baseSha, headSha);
  const files = merged.outcome === "conflicts" ? merged.files : [];
  return { ...none, ...shas, merge: merged.outcome, filesWithConflicts: files };
}

const countOnce = walker<[number, number]>({ max: 500 });

async function countApart(path: string, headSha: string, baseSha: string): Promise<[number, number]> {
  const args = ["rev-list", "--left-right", "--count", "--end-of-options", `${headSha}...${baseSha}`, "--"];
  const walk = async () => {
    const [ahead = 0, behind = 0] = (await runWalkGit(path, args)).toString("latin1").trim().split(/\s+/).map(Number);
    return { value: [ahead, behind] as [number, number], isWhole: true };
  };
  return countOnce({ directory: path, of: [headSha, baseSha], walk });
}

type PullRequestRange = MergedCommits;

/** @returns undefined if the commits were deleted or never pushed */
export async function pullRequestRange(
  repo: Repo,
  { id, num, status, baseRef }: Pick<Discussion, "id" | "num" | "status" | "baseRef">,
): Promise<PullRequestRange | undefined> {
  if (status === "merged") return mergedRange(id);
  const path = await openRepository(repo);
  const [headSha, baseSha] = await Promise.all([
    resolveRef(path, pullRequestRef(num)),
    baseRef ? resolveRef(path, baseRef) : null,
  ]);
  return headSha ? { headSha, baseSha } : undefined;
}

async function mergedRange(discussionId: string): Promise<PullRequestRange | undefined> {
  const event = await db().discussionEvent.findFirst({
    where: { discussionId, type: "status-change" },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    select: { data: true },
  });
  const { headSha, baseSha } = (event?.data ?? {}) as Partial<MergedCommits>;
  return headSha ? { headSha, baseSha: baseSha ?? null } : undefined;
}

/**
 * The caller must have checked `repo.read_content`.
 * @returns null if the commits were deleted or the patch is too large
 */
export async function readPullRequestPatch(repo: Repo, discussion: Discussion): Promise<string | null> {
  const range = await pullRequestRange(repo, discussion);
  if (!range) return null;
  const { headSha, baseSha } = range;
  return readPatch(await openRepository(repo), baseSha ?? EMPTY_TREE, headSha, { sinceMergeBase: baseSha !== null });
}
