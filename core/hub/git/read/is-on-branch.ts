import { setTimeout as delay } from "node:timers/promises";
import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import type { Revision } from "./revision.ts";
import { runWalkGit, walker } from "./walk.ts";

/** Reading waits no longer than this for the answer, which is only a notice. */
const WAIT_MS = 2_000;

const decideOnce = walker<boolean>({ max: 10_000 });

/**
 * Whether a commit that was requested by its SHA is on a branch or tag of the repository. Anybody may open a pull request, so a stranger
 * can have a commit served under the owner's name by its SHA. Clients rely on reading it that way, but people who follow such a URL must
 * be told.
 *
 * A URL that names a ref shows what it is, so the answer for a ref is yes. The answer is also yes if git does not find out in time: this is
 * only a notice, and reading does not depend on it.
 */
export async function isOnBranch(
  repo: Pick<Repo, "id" | "defaultBranch" | "platformId" | "headSha" | "updatedAt">,
  { ref, sha }: Pick<Revision, "ref" | "sha">,
): Promise<boolean> {
  if (ref !== null || sha === null || sha === repo.headSha) return true;
  const directory = await openRepository(repo);
  const walk = async () => {
    const args = ["rev-list", "--max-count=1", sha, "--not", "--branches", "--tags", "--glob=refs/convert"];
    return { value: (await runWalkGit(directory, args)).length === 0, isWhole: true };
  };
  const over = new AbortController();
  // Refs do not change without `updatedAt`, so the result stays valid until that changes.
  const found = decideOnce({ directory, of: [sha, repo.updatedAt.toISOString()], walk }).catch(() => true);
  try {
    return await Promise.race([found, delay(WAIT_MS, true, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}
