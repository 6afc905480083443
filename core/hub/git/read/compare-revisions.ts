import { invalidRequest } from "../../../errors.ts";
import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import type { Commit } from "./commit.ts";
import type { Diff } from "./diff.ts";
import { withObjects } from "./git-objects.ts";
import { logCommits } from "./list-commits.ts";
import { EMPTY_TREE, readDiff, readPatch } from "./read-diff.ts";
import { type Revision, resolveRevision } from "./revision.ts";

const COMPARED_COMMITS_MAX = 250;

export type Comparison = {
  base: Revision;
  head: Revision;
  commits: Commit[];
  isCommitsCut: boolean;
  diff: Diff;
};

export type Range = { base: string; head: string; isSinceMergeBase: boolean };

export function parseRange(text: string): Range {
  const [, base, dots, head] = /^(.+?)(\.{2,3})(.+)$/s.exec(text) ?? [];
  if (!base || !head) throw invalidRequest("Compare two revisions as base...head.", "range");
  return { base, head, isSinceMergeBase: dots === "..." };
}

export async function comparePatch(repo: Repo, range: Range): Promise<string | null> {
  const directory = await openRepository(repo);
  const { from, to, sinceMergeBase } = await resolveRange(directory, repo, range);
  return readPatch(directory, from, to, { sinceMergeBase });
}

export async function compareRevisions(
  repo: Repo,
  range: Range,
  { withLines = true }: { withLines?: boolean } = {},
): Promise<Comparison> {
  const directory = await openRepository(repo);
  const { base, head, from, to, sinceMergeBase } = await resolveRange(directory, repo, range);
  const count = `--max-count=${COMPARED_COMMITS_MAX + 1}`;
  const without = base.sha === null ? [] : [`^${base.sha}`];
  const commits = head.sha === null ? [] : await logCommits(directory, [count, head.sha, ...without]);
  return {
    base,
    head,
    commits: commits.slice(0, COMPARED_COMMITS_MAX),
    isCommitsCut: commits.length > COMPARED_COMMITS_MAX,
    diff: await readDiff(directory, from, to, { sinceMergeBase, withLines }),
  };
}

async function resolveRange(directory: string, repo: Repo, { base: baseName, head: headName, isSinceMergeBase }: Range) {
  const [base, head] = await withObjects(directory, (objects) =>
    Promise.all([resolveRevision(objects, repo, baseName), resolveRevision(objects, repo, headName)]),
  );
  return {
    base,
    head,
    from: base.sha ?? EMPTY_TREE,
    to: head.sha ?? EMPTY_TREE,
    sinceMergeBase: isSinceMergeBase && base.sha !== null && head.sha !== null,
  };
}
