import { runWalkGit, walker } from "../git/read/walk.ts";
import { resolveRef } from "../git/refs/resolve-ref.ts";
import { openRepository } from "../git/repository.ts";
import type { Repo } from "../repos/repo.ts";
import { type Discussion, pullRequestRef } from "./discussion.ts";
import { tryMerge } from "./merge-tree.ts";

/** How the commits of a pull request stand to the branch that they are for. */
export type PullRequestState = {
  /** Null when they were deleted, or none was ever pushed. */
  headSha: string | null;
  /** Null when the branch is gone, or has no commit yet. */
  baseSha: string | null;
  /** How many commits it has that its base lacks, and the reverse. */
  ahead: number;
  behind: number;
  /**
   * `clean`: it can be merged. `nothing`: its base has all of it. `conflicts`: in `filesWithConflicts`. `unrelated`: no history in
   * common. `gone`: there is nothing to merge, or nothing to merge it into.
   */
  merge: "clean" | "nothing" | "conflicts" | "unrelated" | "gone";
  filesWithConflicts: string[];
};

const none: PullRequestState = { headSha: null, baseSha: null, ahead: 0, behind: 0, merge: "gone", filesWithConflicts: [] };

/** Reads it from git, for one that is neither closed nor merged. It asks nobody's permission, and names of files are all that it tells. */
export async function readPullRequestState(
  repo: Repo,
  { num, baseRef }: Pick<Discussion, "num" | "baseRef">,
): Promise<PullRequestState> {
  if (!baseRef) return none;
  const path = await openRepository(repo);
  const [headSha, baseSha] = await Promise.all([resolveRef(path, pullRequestRef(num)), resolveRef(path, baseRef)]);
  if (!headSha) return { ...none, baseSha };
  if (!baseSha) {
    // Its first commit can be proposed to an empty repository; a branch that was there and is gone has closed it.
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
