import { isWithinThrottle, requireBelowThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import type { Db } from "../../db.ts";
import type { Prisma } from "../../generated/prisma/client.ts";
import type { RefChange } from "../git/refs/ref-name.ts";
import type { Repo } from "../repos/repo.ts";
import { type DiscussionRow, numOfPullRequestRef, pullRequestRef } from "./discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { setStatus } from "./properties.ts";
import { type ChangeToFollow, isBranch, openAt, type RefEffects, unchangedSince } from "./read-ref-effects.ts";

/** The transaction locks the repository, and must end within 15 seconds even on a busy machine. */
const PULL_REQUESTS_FOLLOWED = 50;

/** `isMore`: there are more pull requests than one transaction updates. */
type Remaining = { late: ChangeToFollow[]; isMore: boolean };

/** `party` is the caller whose limit counts the shown commits. `at` is a time before git changed the refs. */
type Following = { actorId: string | null; party: string | null; effects: RefEffects; at: Date };

/**
 * Call this with the repository locked.
 * @returns the changes that are not applied, for example because git was too slow
 */
export async function followRefChanges(
  tx: Db,
  repo: Repo,
  changed: readonly ChangeToFollow[],
  following: Following,
): Promise<Remaining> {
  const heads = changed.filter(({ ref }) => numOfPullRequestRef(ref) !== undefined);
  const bases = changed.filter(({ ref }) => isBranch(ref));
  const ofBases = bases.length > 0 ? await followBases(tx, repo, bases, following) : { late: [], isMore: false };
  const ofHeads = heads.length > 0 ? await followHeads(tx, repo, heads, following) : [];
  return { late: [...ofBases.late, ...ofHeads], isMore: ofBases.isMore };
}

export async function noteHeadChanges(tx: Db, repoId: string, changed: readonly RefChange[]): Promise<void> {
  const nums = changed.flatMap(({ ref }) => numOfPullRequestRef(ref) ?? []);
  if (nums.length === 0) return;
  await tx.$executeRaw`UPDATE discussion SET head_changed_at = clock_timestamp() WHERE repo_id = ${repoId} AND num = ANY (${nums})`;
}

async function followHeads(
  tx: Db,
  repo: Repo,
  changed: readonly ChangeToFollow[],
  { actorId, party, effects }: Following,
): Promise<ChangeToFollow[]> {
  const late: ChangeToFollow[] = [];
  const byNum = new Map(changed.map((change) => [numOfPullRequestRef(change.ref) as number, change]));
  const { rows } = await lockPullRequests(tx, repo.id, { num: { in: [...byNum.keys()] } });
  for (const row of rows) {
    const change = byNum.get(row.num) as ChangeToFollow;
    if (!change.newSha) {
      const isOpen = row.status === "open" || row.status === "draft";
      if (isOpen) await setStatus(tx, { repo, discussion: row, actorId }, "closed");
      continue;
    }
    const commits = effects.commits.get(change.ref);
    if (!commits) late.push({ ...change, baseSha: effects.bases.get(change.ref) });
    if (commits?.length) {
      const isWithin = await mayShow(tx, commitsShown(party ?? actorId ?? repo.id), commits.length);
      const shown = isWithin ? commits : commits.slice(-1);
      const events = shown.map((commit) => ({ type: "commit", authorId: actorId, data: commit }) as const);
      await insertEvents(tx, row.id, events);
    }
    await tx.discussion.update({ where: { id: row.id }, data: { updatedAt: new Date() } });
  }
  return late;
}

/** S137: no quota counts the subjects of commits, and a push without new objects may show a hundred. */
const COMMITS_SHOWN: ThrottleLimit = { limit: 20_000, windowSeconds: 24 * 60 * 60 };
const commitsShown = (party: string) => throttleKey("commits-shown", party);

/** Above the limit, changes are refused. A change without a trace would deceive reviewers. */
export async function requireShowable(changes: readonly RefChange[], party: string): Promise<void> {
  if (!changes.some(({ ref, newSha }) => newSha && numOfPullRequestRef(ref) !== undefined)) return;
  await requireBelowThrottle(commitsShown(party), COMMITS_SHOWN);
}

const mayShow = (tx: Db, key: string, commits: number): Promise<boolean> =>
  isWithinThrottle(tx, key, { ...COMMITS_SHOWN, limit: COMMITS_SHOWN.limit + commits }, commits);

async function followBases(
  tx: Db,
  repo: Repo,
  changed: readonly ChangeToFollow[],
  { actorId, effects, at }: Following,
): Promise<Remaining> {
  const gone = changed.flatMap(({ ref, newSha }) => (newSha ? [] : [ref]));
  const mergedBy = ({ ref }: ChangeToFollow) => [...(effects.merged.get(ref)?.keys() ?? [])];
  const nums = changed.flatMap(mergedBy);
  const late = new Set(changed.filter(({ ref, newSha }) => newSha && !effects.merged.has(ref)));
  if (gone.length === 0 && nums.length === 0) return { late: [...late], isMore: false };
  const refsMoving = nums.length > 0 ? await refsBeingChanged(tx, repo.id) : new Set<string>();
  const isMoving = (num: number) => refsMoving.has(pullRequestRef(num));
  for (const change of changed) if (mergedBy(change).some(isMoving)) late.add(change);
  // Pull requests whose refs are being changed do not count toward the limit.
  const settled = nums.filter((num) => !isMoving(num));
  const merged = settled.slice(0, PULL_REQUESTS_FOLLOWED);
  const { rows, isFull } = await lockPullRequests(tx, repo.id, {
    ...openAt(at),
    OR: [{ baseRef: { in: gone } }, { num: { in: merged }, ...unchangedSince(at) }],
  });
  for (const row of rows) {
    const change = changed.find(({ ref }) => ref === row.baseRef);
    const headSha = change && effects.merged.get(change.ref)?.get(row.num);
    if (change && !change.newSha) await setStatus(tx, { repo, discussion: row, actorId }, "closed");
    else if (change && headSha) {
      const discussion = await tx.discussion.update({ where: { id: row.id }, data: { mergeCommitSha: change.newSha } });
      await setStatus(tx, { repo, discussion, actorId }, "merged", { headSha, baseSha: change.oldSha });
    }
  }
  const isMore = isFull || settled.length > merged.length;
  return { late: isMore ? [...changed] : [...late], isMore };
}

/** Refs with changes that are not recorded yet. Git's answers may already include these changes. */
async function refsBeingChanged(tx: Db, repoId: string): Promise<Set<string>> {
  const notes = await tx.refUpdate.findMany({ where: { repoId }, select: { asked: true } });
  return new Set(notes.flatMap(({ asked }) => (asked as RefChange[]).map(({ ref }) => ref)));
}

/**
 * Locks in the order of numbers, to prevent deadlocks. `isFull`: there may be more pull requests than one transaction updates.
 */
async function lockPullRequests(
  tx: Db,
  repoId: string,
  which: Prisma.DiscussionWhereInput,
): Promise<{ rows: DiscussionRow[]; isFull: boolean }> {
  const where = { repoId, isPullRequest: true, ...which };
  const found = await tx.discussion.findMany({
    where,
    orderBy: { num: "asc" },
    take: PULL_REQUESTS_FOLLOWED,
    select: { id: true },
  });
  if (found.length === 0) return { rows: [], isFull: false };
  const ids = found.map(({ id }) => id);
  await tx.$queryRaw`SELECT id FROM discussion WHERE id = ANY (${ids}) ORDER BY num FOR UPDATE`;
  // Another transaction may have closed a pull request meanwhile.
  const rows = await tx.discussion.findMany({ where: { ...where, id: { in: ids } }, orderBy: { num: "asc" } });
  return { rows, isFull: found.length === PULL_REQUESTS_FOLLOWED };
}
