import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runWalkGit } from "../read/walk.ts";
import { GitFailed } from "../run-git.ts";

/**
 * Which of some paths a .gitignore at the root leaves out, in git's own reading of it. Call it within a walk: a line of twenty characters
 * can keep git busy for hours (S137).
 * @param gitDirectory a quarantine, where the file is left
 * @throws RanOutOfTime
 */
export async function findIgnoredPaths(
  gitDirectory: string,
  paths: readonly string[],
  { gitIgnore, maxMs }: { gitIgnore: string; maxMs: number },
): Promise<ReadonlySet<string>> {
  // Git asks for a work tree; an empty one, so that nothing in it is taken for a folder of that name.
  const workTree = join(gitDirectory, "work-tree");
  await Promise.all([mkdir(workTree), mkdir(join(gitDirectory, "info"), { recursive: true })]);
  await writeFile(join(gitDirectory, "info", "exclude"), gitIgnore);
  try {
    const output = await runWalkGit(gitDirectory, ["-c", "core.bare=false", "check-ignore", "--no-index", "-z", "--stdin"], {
      input: paths.map((path) => `${path}\0`).join(""),
      env: { GIT_WORK_TREE: workTree },
      timeoutMs: maxMs,
    });
    return new Set(output.toString("utf8").split("\0").filter(Boolean));
  } catch (error) {
    // It ends with 1 when there is none.
    if (error instanceof GitFailed && error.status === 1) return new Set();
    throw error;
  }
}
