import { GitFailed, type GitOptions, runGit } from "../run-git.ts";

/**
 * The commit, or tag object, that a full ref name points to; null when there is no such ref. It parses no revisions: `v1-2-g0123abc` is a
 * name here, while `git rev-parse` would read it as the commit 0123abc.
 */
export async function resolveRef(path: string, ref: string, options: Pick<GitOptions, "timeoutMs"> = {}): Promise<string | null> {
  try {
    return (await runGit(path, ["show-ref", "--verify", "--hash", "--", ref], options)).toString("latin1").trim();
  } catch (error) {
    if (error instanceof GitFailed && /not a valid ref/.test(error.stderr)) return null;
    throw error;
  }
}
