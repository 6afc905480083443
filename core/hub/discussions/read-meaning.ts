import { db } from "../../db.ts";
import { isServiceError } from "../../errors.ts";
import { log } from "../../log.ts";
import { type Deadline, deadlineIn } from "../git/read/walk.ts";
import type { RefChange } from "../git/refs/ref-change.ts";
import { resolveRef } from "../git/refs/resolve-ref.ts";
import { openRepository } from "../git/repository.ts";
import { GitFailed } from "../git/run-git.ts";
import type { Repo } from "../repos/repo.ts";
import { type Commit, listNewCommits, refsMergedInto } from "./commits.ts";
import { numOfPullRequestRef, pullRequestRef } from "./discussion.ts";

/** A push of more shows its latest. */
const COMMITS_SHOWN_OF_A_PUSH = 100;
/** Of those that one push of 1,000 refs touches. */
export const PULL_REQUESTS_FOLLOWED = 200;

/** A change, with what is known of it when git has not said all of it yet. */
export type ChangeToFollow = RefChange & {
  /** Of a pull request's commits: what its base was. */
  baseSha?: string | null;
  /** Of a branch: the refs of the pull requests about which git has still to be asked. */
  heads?: string[];
};

/** What git says of changes of refs for pull requests. What is not in here it did not say in time. */
export type Meaning = {
  /** The commits that came to a pull request, by its ref. */
  commits: Map<string, Commit[]>;
  /** What the base of a pull request was, by the ref of the latter. */
  bases: Map<string, string | null>;
  /** By the ref of a branch, and then of a pull request: its commit, where that came into the branch by this change; null where not. */
  merged: Map<string, Map<string, string | null>>;
  /** The refs of the pull requests about which git was asked, whether it answered or not: others had no turn before the deadline. */
  asked: Set<string>;
};

/**
 * Asks git what changes of refs mean for pull requests, before anything is locked: how long that takes is up to whoever has pushed, so
 * that it has places and a deadline of walks (S137).
 * @param walkMs of what git has not said in one go, for each question; all at once where it is left out
 */
export async function readMeaning(
  repo: Pick<Repo, "id" | "defaultBranch" | "platformId">,
  changed: readonly ChangeToFollow[],
  deadline: Deadline,
  walkMs?: number,
): Promise<Meaning> {
  const meaning: Meaning = { commits: new Map(), bases: new Map(), merged: new Map(), asked: new Set() };
  const toAsk = changed.filter(({ newSha, ref }) => newSha && (numOfPullRequestRef(ref) !== undefined || isBranch(ref)));
  if (toAsk.length === 0) return meaning;
  const path = await openRepository(repo);
  const baseShas = await baseShasOf(path, repo.id, toAsk);
  const ask = async <T>(heads: readonly string[], question: (deadline: Deadline) => Promise<T>): Promise<T | undefined> => {
    if (heads.length === 0 || Date.now() >= deadline.at) return undefined;
    for (const head of heads) meaning.asked.add(head);
    return unlessLate(question(walkMs === undefined ? deadline : earlier(deadline, deadlineIn(walkMs))));
  };
  for (const change of toAsk) {
    const { ref } = change;
    if (isBranch(ref)) {
      const heads = change.heads ?? (await openHeads(repo.id, ref));
      const merged = new Map<string, string | null>();
      meaning.merged.set(ref, merged);
      for (const group of walkMs === undefined ? [heads] : heads.map((head) => [head])) {
        const found = await ask(group, (until) => newlyMerged(path, group, change, until));
        if (found) for (const head of group) merged.set(head, found.get(head) ?? null);
      }
    } else if (baseShas.has(ref)) {
      const baseSha = change.baseSha === undefined ? (baseShas.get(ref) ?? null) : change.baseSha;
      meaning.bases.set(ref, baseSha);
      const commits = await ask([ref], (until) => commitsOf(path, change, baseSha, until));
      if (commits) meaning.commits.set(ref, commits);
    }
  }
  return meaning;
}

export const isBranch = (ref: string): boolean => ref.startsWith("refs/heads/");

const earlier = (one: Deadline, other: Deadline): Deadline => ({ at: Math.min(one.at, other.at), ms: other.ms });

/** What the bases of the pull requests that are there are now, by the refs of the latter. */
async function baseShasOf(path: string, repoId: string, changed: readonly RefChange[]): Promise<Map<string, string | null>> {
  const nums = changed.flatMap(({ ref }) => numOfPullRequestRef(ref) ?? []);
  if (nums.length === 0) return new Map();
  const where = { repoId, isPullRequest: true, num: { in: nums } };
  const rows = await db().discussion.findMany({ where, select: { num: true, baseRef: true } });
  const shas = new Map<string | null, string | null>([[null, null]]);
  for (const { baseRef } of rows) if (baseRef && !shas.has(baseRef)) shas.set(baseRef, await resolveRef(path, baseRef));
  return new Map(rows.map(({ num, baseRef }) => [pullRequestRef(num), shas.get(baseRef) ?? null]));
}

async function openHeads(repoId: string, baseRef: string): Promise<string[]> {
  const where = { repoId, isPullRequest: true, baseRef, status: { in: ["draft", "open"] } };
  const rows = await db().discussion.findMany({
    where,
    orderBy: { num: "asc" },
    take: PULL_REQUESTS_FOLLOWED,
    select: { num: true },
  });
  return rows.map(({ num }) => pullRequestRef(num));
}

async function commitsOf(
  path: string,
  { oldSha, newSha }: RefChange,
  baseSha: string | null,
  deadline: Deadline,
): Promise<Commit[]> {
  const wanted = { sha: newSha as string, without: [oldSha, baseSha], limit: COMMITS_SHOWN_OF_A_PUSH };
  try {
    return await listNewCommits(path, wanted, deadline);
  } catch (error) {
    // What was pushed is there, whatever it is: that it cannot be listed is no reason to forget the push, and will stay so.
    if (!(error instanceof GitFailed)) throw error;
    log().warn({ err: error }, "cannot list the commits of a pull request");
    return [];
  }
}

/** The refs, and their commits, that came into the base by this change; a draft without a commit of its own was in it before. */
async function newlyMerged(
  path: string,
  heads: readonly string[],
  { oldSha, newSha }: RefChange,
  deadline: Deadline,
): Promise<Map<string, string>> {
  const now = await refsMergedInto(path, newSha as string, heads, deadline);
  if (now.size === 0 || !oldSha) return now;
  const before = await refsMergedInto(path, oldSha, [...now.keys()], deadline);
  return new Map([...now].filter(([ref]) => !before.has(ref)));
}

async function unlessLate<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof GitFailed) && !(isServiceError(error) && error.code === "unavailable")) throw error;
    log().warn({ err: error }, "git did not say in time what a change of refs means for pull requests");
    return undefined;
  }
}
