import { GitFailed, runGit } from "../run-git.ts";

/** The commit, or tag object, that a full ref name stands for; null when there is no such ref. */
export async function resolveRef(path: string, ref: string): Promise<string | null> {
  try {
    return (await runGit(path, ["rev-parse", "--verify", "--quiet", "--end-of-options", ref])).toString("latin1").trim();
  } catch (error) {
    if (error instanceof GitFailed && error.status === 1) return null;
    throw error;
  }
}
