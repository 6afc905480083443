import type { Db } from "../../db.ts";
import type { Prisma } from "../../generated/prisma/client.ts";
import type { Repo } from "../repos/repo.ts";
import { type DiscussionRow, numOfPullRequestRef, pullRequestRef } from "./discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { type ChangeToFollow, isBranch, type Meaning, PULL_REQUESTS_FOLLOWED } from "./read-meaning.ts";
import { setStatus } from "./set-status.ts";

/**
 * What a change of refs means for pull requests, in the transaction that records it and under its lock on the repository: commits that
 * came to one are shown in it, one whose branch or base is gone is closed, and one whose commits are now in its base is merged, whoever
 * merged it and wherever.
 * @returns what is still to be done, since git has not said what it means
 */
export async function followRefChanges(
  tx: Db,
  repo: Repo,
  changed: readonly ChangeToFollow[],
  { actorId, meaning }: { actorId: string | null; meaning: Meaning },
): Promise<ChangeToFollow[]> {
  const heads = changed.filter(({ ref }) => numOfPullRequestRef(ref) !== undefined);
  const bases = changed.filter(({ ref }) => isBranch(ref));
  const late: ChangeToFollow[] = [];
  if (bases.length > 0) late.push(...(await followBases(tx, repo, bases, { actorId, meaning })));
  if (heads.length > 0) late.push(...(await followHeads(tx, repo, heads, { actorId, meaning })));
  return late;
}

async function followHeads(
  tx: Db,
  repo: Repo,
  changed: readonly ChangeToFollow[],
  { actorId, meaning }: { actorId: string | null; meaning: Meaning },
): Promise<ChangeToFollow[]> {
  const late: ChangeToFollow[] = [];
  const byNum = new Map(changed.map((change) => [numOfPullRequestRef(change.ref) as number, change]));
  const rows = await lockPullRequests(tx, repo.id, { num: { in: [...byNum.keys()] } });
  for (const row of rows) {
    const change = byNum.get(row.num) as ChangeToFollow;
    if (!change.newSha) {
      const isOpen = row.status === "open" || row.status === "draft";
      if (isOpen) await setStatus(tx, { repo, discussion: row, actorId }, "closed");
      continue;
    }
    const commits = meaning.commits.get(change.ref);
    if (!commits) late.push({ ...change, baseSha: meaning.bases.get(change.ref) });
    const events = (commits ?? []).map((commit) => ({ type: "commit", authorId: actorId, data: commit }) as const);
    await insertEvents(tx, row.id, events);
    await tx.discussion.update({ where: { id: row.id }, data: { updatedAt: new Date() } });
  }
  return late;
}

async function followBases(
  tx: Db,
  repo: Repo,
  changed: readonly ChangeToFollow[],
  { actorId, meaning }: { actorId: string | null; meaning: Meaning },
): Promise<ChangeToFollow[]> {
  const late: ChangeToFollow[] = [];
  const where = { baseRef: { in: changed.map(({ ref }) => ref) }, status: { in: ["draft", "open"] } };
  const rows = await lockPullRequests(tx, repo.id, where);
  for (const change of changed) {
    const { ref, oldSha, newSha, heads } = change;
    const unknown: string[] = [];
    // One that was opened later has nothing to do with the change.
    const isConcerned = ({ baseRef, num }: DiscussionRow) => baseRef === ref && (heads?.includes(pullRequestRef(num)) ?? true);
    for (const row of rows.filter(isConcerned)) {
      if (!newSha) {
        await setStatus(tx, { repo, discussion: row, actorId }, "closed");
        continue;
      }
      const headSha = meaning.merged.get(ref)?.get(pullRequestRef(row.num));
      if (headSha === undefined) unknown.push(pullRequestRef(row.num));
      if (!headSha) continue;
      const discussion = await tx.discussion.update({ where: { id: row.id }, data: { mergeCommitSha: newSha } });
      await setStatus(tx, { repo, discussion, actorId }, "merged", { headSha, baseSha: oldSha });
    }
    if (unknown.length > 0) late.push({ ref, oldSha, newSha, heads: unknown });
  }
  return late;
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
