import { notFound } from "../../../errors.ts";
import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import { GitFailed } from "../run-git.ts";
import { COMMIT_FORMAT, type Commit, parseCommits } from "./commit.ts";
import type { Diff } from "./diff.ts";
import { withObjects } from "./git-objects.ts";
import { EMPTY_TREE, readDiff } from "./read-diff.ts";
import { type Revision, resolveRevision } from "./revision.ts";
import { isTreePath } from "./tree-entries.ts";
import { runWalk, runWalkGit, walker } from "./walk.ts";

/** Existing clients may request ten times as many, and accept shorter pages. */
export const COMMITS_PAGE_MAX = 100;
const PAGE_MAX = 1_000_000;

type CommitPage = { revision: Revision; commits: Commit[]; total: number; page: number; pageSize: number };

type CommitQuery = {
  revision: string;
  path?: string;
  page?: number;
  limit?: number;
};

const countOnce = walker<number>({ max: 2_000 });

export async function listCommits(repo: Repo, { path = "", ...query }: CommitQuery): Promise<CommitPage> {
  const page = Math.min(Math.max(Math.trunc(query.page || 0), 0), PAGE_MAX);
  const pageSize = Math.min(Math.max(Math.trunc(query.limit || COMMITS_PAGE_MAX), 1), COMMITS_PAGE_MAX);
  const directory = await openRepository(repo);
  const revision = await withObjects(directory, (objects) => resolveRevision(objects, repo, query.revision));
  if (path !== "" && !isTreePath(path)) throw notFound("Entry");
  if (revision.sha === null) return { revision, commits: [], total: 0, page, pageSize };
  const [commits, total] = await Promise.all([
    logCommits(directory, [`--skip=${page * pageSize}`, `--max-count=${pageSize}`, "--end-of-options", revision.sha], path),
    countCommits(directory, revision.sha, path),
  ]);
  if (path !== "" && total === 0) throw notFound("Entry");
  return { revision, commits, total, page, pageSize };
}

export async function countCommits(directory: string, sha: string, path = "", waitMaxMs?: number): Promise<number> {
  const walk = async () => {
    const output = await runWalkGit(directory, ["rev-list", "--count", "--end-of-options", sha, ...onlyAt(path)], literal);
    return { value: Number(output.toString("latin1")), isWhole: true };
  };
  return countOnce({ directory, of: [sha, path], walk, waitMaxMs });
}

export async function logCommits(directory: string, range: readonly string[], path = ""): Promise<Commit[]> {
  try {
    return parseCommits(await runWalk(directory, ["log", "-z", COMMIT_FORMAT, ...range, ...onlyAt(path)], literal));
  } catch (error) {
    if (error instanceof GitFailed && /bad revision|bad object|unknown revision/.test(error.stderr)) throw notFound("Revision");
    throw error;
  }
}

const literal = { env: { GIT_LITERAL_PATHSPECS: "1" } };
const onlyAt = (path: string): string[] => (path === "" ? [] : ["--", path]);

/** @param withLines false for readers who may see only the names of files */
export async function readCommit(
  repo: Repo,
  revision: string,
  { withLines = true }: { withLines?: boolean } = {},
): Promise<{ commit: Commit; diff: Diff }> {
  const directory = await openRepository(repo);
  const { sha } = await withObjects(directory, (objects) => resolveRevision(objects, repo, revision));
  if (sha === null) throw notFound("Revision");
  const [commit] = await logCommits(directory, ["--max-count=1", "--end-of-options", sha]);
  if (!commit) throw notFound("Revision");
  return { commit, diff: await readDiff(directory, commit.parents[0] ?? EMPTY_TREE, sha, { withLines }) };
}
