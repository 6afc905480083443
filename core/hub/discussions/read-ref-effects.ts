import { db } from "../../db.ts";
import { isServiceError } from "../../errors.ts";
import type { Prisma } from "../../generated/prisma/client.ts";
import { log } from "../../log.ts";
import { type Deadline, deadlineIn } from "../git/read/walk.ts";
import { listRefs, resolveRef } from "../git/refs/git-refs.ts";
import type { RefChange } from "../git/refs/ref-name.ts";
import { openRepository } from "../git/repository.ts";
import { GitFailed, UNDER_LOCK } from "../git/run-git.ts";
import type { Repo } from "../repos/repo.ts";
import { addedCommits, type Commit, listNewCommits } from "./commits.ts";
import { numOfPullRequestRef, pullRequestRef } from "./discussion.ts";

const COMMITS_SHOWN_OF_A_PUSH = 100;

export type ChangeToFollow = RefChange & {
  /** The commit of the base. Set for the head of a pull request. */
  baseSha?: string | null;
};

export type RefEffects = {
  commits: Map<string, Commit[]>;
  /** For each pull request's ref, the commit of its base. */
  bases: Map<string, string | null>;
  /** For each branch's ref, the head commits of merged pull requests by number, in order. */
  merged: Map<string, Map<number, string>>;
  /** Refs that git was asked about, even without an answer. */
  asked: Set<string>;
};

/** Lock nothing before this call: pushed commits decide how long it takes (S137). `at` is before git changed the refs. */
export async function readRefEffects(
  repo: Pick<Repo, "id" | "defaultBranch" | "platformId" | "sizeBytes">,
  changed: readonly ChangeToFollow[],
  { at, deadline, walkMs }: { at: Date; deadline: Deadline; walkMs?: number },
): Promise<RefEffects> {
  const effects: RefEffects = { commits: new Map(), bases: new Map(), merged: new Map(), asked: new Set() };
  const toAsk = changed.filter(({ newSha, ref }) => newSha && (numOfPullRequestRef(ref) !== undefined || isBranch(ref)));
  if (toAsk.length === 0) return effects;
  const path = await openRepository(repo);
  const baseShas = await unlessLate(baseShasOf(path, repo.id, toAsk));
  const heads = await unlessLate(openHeads(path, repo.id, toAsk, at));
  const ask = async <T>(ref: string, question: (deadline: Deadline) => Promise<T>): Promise<T | undefined> => {
    if (Date.now() >= deadline.at) return undefined;
    effects.asked.add(ref);
    return unlessLate(question(walkMs === undefined ? deadline : earlier(deadline, deadlineIn(walkMs))));
  };
  for (const change of toAsk) {
    const { ref } = change;
    if (isBranch(ref)) {
      if (!heads) continue;
      const open = heads.get(ref) ?? new Map<number, string>();
      const came =
        open.size === 0 ? new Set() : await ask(ref, (until) => addedCommits(path, change, new Set(open.values()), until));
      if (came) effects.merged.set(ref, new Map([...open].filter(([, sha]) => came.has(sha))));
    } else {
      const baseSha = change.baseSha === undefined ? baseShas?.get(ref) : change.baseSha;
      if (baseSha === undefined) continue;
      effects.bases.set(ref, baseSha);
      const commits = await ask(ref, (until) => commitsOf(path, change, baseSha, until));
      if (commits) effects.commits.set(ref, commits);
    }
  }
  return effects;
}

export const openAt = (at: Date) =>
  ({ isPullRequest: true, status: { in: ["draft", "open"] }, createdAt: { lte: at } }) satisfies Prisma.DiscussionWhereInput;

/**
 * Excludes pull requests whose head changed later. Otherwise an author could move the head to one of the base's new commits, and
 * the pull request would look merged.
 */
export const unchangedSince = (at: Date) =>
  ({ OR: [{ headChangedAt: null }, { headChangedAt: { lte: at } }] }) satisfies Prisma.DiscussionWhereInput;

export const isBranch = (ref: string): boolean => ref.startsWith("refs/heads/");

const earlier = (one: Deadline, other: Deadline): Deadline => ({ at: Math.min(one.at, other.at), ms: other.ms });

async function baseShasOf(path: string, repoId: string, changed: readonly RefChange[]): Promise<Map<string, string | null>> {
  const nums = changed.flatMap(({ ref }) => numOfPullRequestRef(ref) ?? []);
  if (nums.length === 0) return new Map();
  const where = { repoId, isPullRequest: true, num: { in: nums } };
  const rows = await db().discussion.findMany({ where, select: { num: true, baseRef: true } });
  const shas = new Map<string | null, string | null>([[null, null]]);
  for (const { baseRef } of rows)
    if (baseRef && !shas.has(baseRef)) shas.set(baseRef, await resolveRef(path, baseRef, UNDER_LOCK));
  return new Map(rows.map(({ num, baseRef }) => [pullRequestRef(num), shas.get(baseRef) ?? null]));
}

async function openHeads(
  path: string,
  repoId: string,
  changed: readonly RefChange[],
  at: Date,
): Promise<Map<string, Map<number, string>>> {
  const heads = new Map<string, Map<number, string>>();
  const branches = changed.flatMap(({ ref }) => (isBranch(ref) ? [ref] : []));
  if (branches.length === 0) return heads;
  const where = { repoId, baseRef: { in: branches }, ...openAt(at), ...unchangedSince(at) };
  const rows = await db().discussion.findMany({ where, orderBy: { num: "asc" }, select: { num: true, baseRef: true } });
  if (rows.length === 0) return heads;
  const refs = await listRefs(path, "refs/pr/", UNDER_LOCK);
  for (const { num, baseRef } of rows) {
    const sha = refs.get(pullRequestRef(num));
    if (sha && baseRef) heads.set(baseRef, (heads.get(baseRef) ?? new Map<number, string>()).set(num, sha));
  }
  return heads;
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
    if (!(error instanceof GitFailed)) throw error;
    log().warn({ err: error }, "cannot list the commits of a pull request");
    return [];
  }
}

async function unlessLate<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof GitFailed) && !(isServiceError(error) && error.code === "unavailable")) throw error;
    log().warn({ err: error }, "git could not determine how a change of refs affects pull requests");
    return undefined;
  }
}
