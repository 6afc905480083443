import type { Db } from "../../db.ts";
import type { Prisma } from "../../generated/prisma/client.ts";
import { log } from "../../log.ts";
import type { RefChange } from "../git/refs/ref-change.ts";
import { resolveRef } from "../git/refs/resolve-ref.ts";
import { openRepository } from "../git/repository.ts";
import { GitFailed } from "../git/run-git.ts";
import type { Repo } from "../repos/repo.ts";
import { type Commit, listNewCommits, refsMergedInto } from "./commits.ts";
import { type DiscussionRow, numOfPullRequestRef, pullRequestRef } from "./discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { setStatus } from "./set-status.ts";

/** A push of more shows its latest. */
const COMMITS_SHOWN_OF_A_PUSH = 100;
/** Of those that one push of 1,000 refs touches. */
const PULL_REQUESTS_FOLLOWED = 200;

/**
 * What a change of refs means for pull requests, in the transaction that records it and under its lock on the repository: commits that
 * came to one are shown in it, one whose branch or base is gone is closed, and one whose commits are now in its base is merged, whoever
 * merged it and wherever.
 */
export async function followRefChanges(tx: Db, repo: Repo, changed: readonly RefChange[], actorId: string | null): Promise<void> {
  const heads = changed.filter(({ ref }) => numOfPullRequestRef(ref) !== undefined);
  const bases = changed.filter(({ ref }) => ref.startsWith("refs/heads/"));
  if (heads.length > 0) await followHeads(tx, repo, heads, actorId);
  if (bases.length > 0) await followBases(tx, repo, bases, actorId);
}

async function followHeads(tx: Db, repo: Repo, changed: readonly RefChange[], actorId: string | null): Promise<void> {
  const byNum = new Map(changed.map((change) => [numOfPullRequestRef(change.ref) as number, change]));
  const rows = await lockPullRequests(tx, repo.id, { num: { in: [...byNum.keys()] }, status: { not: "merged" } });
  const path = await openRepository(repo);
  for (const row of rows) {
    const { oldSha, newSha } = byNum.get(row.num) as RefChange;
    if (!newSha) {
      if (row.status !== "closed") await setStatus(tx, { repo, discussion: row, actorId }, "closed");
      continue;
    }
    const baseSha = row.baseRef ? await resolveRef(path, row.baseRef) : null;
    const commits = await commitsOf(path, newSha, [oldSha, baseSha]);
    const events = commits.map((commit) => ({ type: "commit", authorId: actorId, data: commit }) as const);
    await insertEvents(tx, row.id, events);
    await tx.discussion.update({ where: { id: row.id }, data: { updatedAt: new Date() } });
  }
}

async function commitsOf(path: string, sha: string, without: (string | null)[]): Promise<Commit[]> {
  try {
    return await listNewCommits(path, { sha, without, limit: COMMITS_SHOWN_OF_A_PUSH });
  } catch (error) {
    // What was pushed is there, whatever it is: that it cannot be listed is no reason to forget the push.
    if (!(error instanceof GitFailed)) throw error;
    log().warn({ err: error }, "cannot list the commits of a pull request");
    return [];
  }
}

async function followBases(tx: Db, repo: Repo, changed: readonly RefChange[], actorId: string | null): Promise<void> {
  const bases = changed.map(({ ref }) => ref);
  const rows = await lockPullRequests(tx, repo.id, { baseRef: { in: bases }, status: { in: ["draft", "open"] } });
  for (const { ref, oldSha, newSha } of changed) {
    const concerned = rows.filter(({ baseRef }) => baseRef === ref);
    if (concerned.length === 0) continue;
    const merged = newSha ? await newlyMerged(repo, concerned, { oldSha, newSha }) : new Map<string, string>();
    for (const row of concerned) {
      if (!newSha) await setStatus(tx, { repo, discussion: row, actorId }, "closed");
      const headSha = merged.get(pullRequestRef(row.num));
      if (!headSha) continue;
      const discussion = await tx.discussion.update({ where: { id: row.id }, data: { mergeCommitSha: newSha } });
      await setStatus(tx, { repo, discussion, actorId }, "merged", { headSha, baseSha: oldSha });
    }
  }
}

/** The refs, and their commits, that came into the base by this change; a draft without a commit of its own was in it before. */
async function newlyMerged(
  repo: Repo,
  rows: readonly DiscussionRow[],
  { oldSha, newSha }: { oldSha: string | null; newSha: string },
): Promise<Map<string, string>> {
  const path = await openRepository(repo);
  const refs = rows.map(({ num }) => pullRequestRef(num));
  const now = await refsMergedInto(path, newSha, refs);
  if (now.size === 0 || !oldSha) return now;
  const before = await refsMergedInto(path, oldSha, [...now.keys()]);
  return new Map([...now].filter(([ref]) => !before.has(ref)));
}

/** Locked in one order, whoever locks. */
async function lockPullRequests(tx: Db, repoId: string, which: Prisma.DiscussionWhereInput): Promise<DiscussionRow[]> {
  const where = { repoId, isPullRequest: true, ...which };
  const found = await tx.discussion.findMany({
    where,
    orderBy: { num: "asc" },
    take: PULL_REQUESTS_FOLLOWED,
    select: { id: true },
  });
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  await tx.$queryRaw`SELECT id FROM discussion WHERE id = ANY (${ids}) ORDER BY num FOR UPDATE`;
  // As they are now: one of them may have been closed while we waited.
  return tx.discussion.findMany({ where: { ...where, id: { in: ids } }, orderBy: { num: "asc" } });
}
