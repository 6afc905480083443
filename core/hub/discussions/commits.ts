import { type Deadline, runWalk, runWalkUntil, walkLinesUntil } from "../git/read/walk.ts";
import type { RefChange } from "../git/refs/ref-name.ts";
import { GitFailed } from "../git/run-git.ts";

export type Commit = { oid: string; subject: string };

const SUBJECT_MAX_CHARACTERS = 200;

export async function isAncestor(path: string, sha: string, of: string): Promise<boolean> {
  try {
    await runWalk(path, ["merge-base", "--is-ancestor", "--end-of-options", sha, of]);
    return true;
  } catch (error) {
    if (error instanceof GitFailed && error.status === 1) return false;
    throw error;
  }
}

/** The latest `limit` commits, with the oldest first. */
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

/** Walks from the branch: strangers who open pull requests cannot make this walk long (S137). */
export async function addedCommits(
  path: string,
  { oldSha, newSha }: RefChange,
  among: ReadonlySet<string>,
  deadline: Deadline,
): Promise<Set<string>> {
  const came = new Set<string>();
  const range = [newSha as string, ...(oldSha ? [`^${oldSha}`] : [])];
  await walkLinesUntil(deadline, path, ["rev-list", "--end-of-options", ...range, "--"], (shas) => {
    for (const sha of shas) if (among.has(sha)) came.add(sha);
  });
  return came;
}

/** A commit's author may put any bytes into its subject. */
const storable = (text: string): string => text.replaceAll("\0", "").slice(0, SUBJECT_MAX_CHARACTERS).toWellFormed();
