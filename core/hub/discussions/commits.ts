import { type Deadline, runWalk, runWalkUntil } from "../git/read/walk.ts";
import { GitFailed } from "../git/run-git.ts";

export type Commit = { oid: string; subject: string };

const SUBJECT_MAX_CHARACTERS = 200;

/** Whether a commit is in the history of another, or is that one. It has a place of a walk meanwhile. @throws ServiceError `unavailable` */
export async function isAncestor(path: string, sha: string, of: string): Promise<boolean> {
  try {
    await runWalk(path, ["merge-base", "--is-ancestor", "--end-of-options", sha, of]);
    return true;
  } catch (error) {
    if (error instanceof GitFailed && error.status === 1) return false;
    throw error;
  }
}

/**
 * The commits of `sha` that none of `without` has, the oldest first; of more than `limit` the latest ones.
 * @throws RanOutOfTime, GitFailed, ServiceError `unavailable`
 */
export async function listNewCommits(
  path: string,
  { sha, without, limit }: { sha: string; without: readonly (string | null)[]; limit: number },
  deadline: Deadline,
): Promise<Commit[]> {
  const excluded = without.flatMap((one) => (one ? [`^${one}`] : []));
  const format = ["--format=%H %s", "--encoding=UTF-8", "--reverse", `--max-count=${limit}`];
  const output = await runWalkUntil(deadline, path, ["log", ...format, "--end-of-options", sha, ...excluded, "--"]);
  const lines = output.toString("utf8").split("\n").filter(Boolean);
  return lines.map((line) => {
    const space = line.indexOf(" ");
    return { oid: line.slice(0, space), subject: storable(line.slice(space + 1)) };
  });
}

/** Which of these refs are in the history of a commit, and what they are at. @throws as `listNewCommits` */
export async function refsMergedInto(
  path: string,
  sha: string,
  refs: readonly string[],
  deadline: Deadline,
): Promise<Map<string, string>> {
  const args = ["for-each-ref", "--format=%(refname) %(objectname)", `--merged=${sha}`, "--", ...refs];
  const lines = (await runWalkUntil(deadline, path, args)).toString("utf8").split("\n").filter(Boolean);
  return new Map(lines.map((line) => line.split(" ") as [string, string]));
}

/** A subject is bytes of its author's choice. */
const storable = (text: string): string => text.replaceAll("\0", "").slice(0, SUBJECT_MAX_CHARACTERS).toWellFormed();
