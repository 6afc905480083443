import { type Db, db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { log } from "../../log.ts";
import type { LeasedTable } from "../../postgres/leased-table.ts";
import { deadlineIn, WALK_MAX_MS } from "../git/read/walk.ts";
import type { RefUpdateNote } from "../git/refs/change-refs.ts";
import { isLockedByOthers, lockRepo, readRepo } from "../repos/read-repos.ts";
import { followRefChanges } from "./follow-ref-changes.ts";
import { type ChangeToFollow, type RefEffects, readRefEffects } from "./read-ref-effects.ts";

/** A pull request's author can make git's answer take forever, so attempts are limited (S137). */
export const lateChangesTable: LeasedTable = {
  name: "late_ref_change",
  isOpen: "true",
  share: { party: "coalesce(actor_id, repo_id)", isShort: "true", isLeftOver: "false" },
};

export const LATE_CHANGES_CHANNEL = "late_ref_change";

export type LateChanges = {
  id: string;
  repo_id: string;
  actor_id: string | null;
  party: string | null;
  changes: ChangeToFollow[];
  happened_at: Date;
  due_at: Date;
  attempts: number;
};

const RETRY_SECONDS = [60, 15 * 60, 3_600, 6 * 3_600];
/** Each attempt may take three times as long as the previous one. So cheap questions do not wait for expensive ones. */
const FIRST_WALK_MS = 1_000;
/** The time between the first attempts for two rows of one user, in which other users get their turn. */
const APART_SECONDS = 30;
const WAITING_MAX = 500;
const OWNER_DISABLED_SECONDS = 3_600;
const CONTINUE_SECONDS = 10;

/** Call this in the transaction that records the changes. */
export async function followLater(
  tx: Db,
  { repoId, actorId, party, startedAt }: Omit<RefUpdateNote, "id">,
  changes: readonly ChangeToFollow[],
): Promise<void> {
  if (changes.length === 0) return;
  const added = await tx.$executeRaw`
    INSERT INTO late_ref_change (id, repo_id, actor_id, party, changes, happened_at, due_at)
    SELECT ${newId()}, ${repoId}, ${actorId}, ${party}, ${JSON.stringify(changes)}::jsonb, ${startedAt},
           now() + make_interval(secs => ${APART_SECONDS} * count(*) FILTER (WHERE attempts = 0))
      FROM late_ref_change WHERE actor_id = ${actorId} OR (${actorId}::text IS NULL AND actor_id IS NULL AND repo_id = ${repoId})
    HAVING count(*) < ${WAITING_MAX}`;
  if (added === 0)
    log().warn({ repo: repoId, actorId }, "pull requests are not updated: too many changes of refs are already waiting");
}

export async function followLateChanges(row: LateChanges, claimId: string): Promise<void> {
  try {
    const repo = await readRepo(row.repo_id);
    // The owner is disabled, and may be enabled again.
    if (!repo) return await putOff(db(), row, claimId, { attempts: row.attempts - 1, seconds: OWNER_DISABLED_SECONDS });
    const walkMs = Math.min(FIRST_WALK_MS * 3 ** (row.attempts - 1), WALK_MAX_MS);
    const effects = await readRefEffects(repo, row.changes, { at: row.happened_at, deadline: deadlineIn(WALK_MAX_MS), walkMs });
    await db().$transaction((tx) => record(tx, row, claimId, effects));
  } catch (error) {
    log().warn({ err: error, repo: row.repo_id }, "pull requests could not be updated after a change of refs");
    if (isLockedByOthers(error)) await putOff(db(), row, claimId, { attempts: row.attempts - 1, seconds: CONTINUE_SECONDS });
    else await tryAgain(db(), row, claimId, row.changes);
  }
}

async function record(tx: Db, row: LateChanges, claimId: string, effects: RefEffects): Promise<void> {
  const repo = await lockRepo(tx, row.repo_id);
  if (!repo || !(await isStillOurs(tx, row.id, claimId))) return;
  const following = { actorId: row.actor_id, party: row.party, effects, at: row.happened_at };
  const { late: left, isMore } = await followRefChanges(tx, repo, row.changes, following);
  if (left.length === 0) await tx.$executeRaw`DELETE FROM late_ref_change WHERE id = ${row.id}`;
  else if (!isMore || left.some((change) => isUnanswered(change, effects)))
    await tryAgain(tx, row, claimId, inOrder(left, effects));
  else await putOff(tx, { ...row, changes: left }, claimId, { attempts: row.attempts - 1, seconds: CONTINUE_SECONDS });
}

const isUnanswered = ({ ref, newSha }: ChangeToFollow, { merged, commits }: RefEffects): boolean =>
  newSha !== null && !merged.has(ref) && !commits.has(ref);

async function isStillOurs(tx: Db, id: string, claimId: string): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT id FROM late_ref_change WHERE id = ${id} AND claim_id = ${claimId} FOR UPDATE`;
  return found.length > 0;
}

/** Changes without a question to git come first, because one slow question must not block them. */
const inOrder = (changes: readonly ChangeToFollow[], { asked }: RefEffects): ChangeToFollow[] =>
  changes.toSorted((one, other) => Number(asked.has(one.ref)) - Number(asked.has(other.ref)));

async function tryAgain(
  tx: Db,
  { attempts, ...row }: LateChanges,
  claimId: string,
  changes: readonly ChangeToFollow[],
): Promise<void> {
  const seconds = RETRY_SECONDS[attempts - 1];
  if (seconds !== undefined) return putOff(tx, { ...row, changes: [...changes] }, claimId, { attempts, seconds });
  log().warn({ repo: row.repo_id, changes }, "gave up updating pull requests after these changes of refs");
  await tx.$executeRaw`DELETE FROM late_ref_change WHERE id = ${row.id} AND claim_id = ${claimId}`;
}

async function putOff(
  tx: Db,
  { id, changes }: Pick<LateChanges, "id" | "changes">,
  claimId: string,
  { attempts, seconds }: { attempts: number; seconds: number },
): Promise<void> {
  await tx.$executeRaw`
    UPDATE late_ref_change SET claim_id = NULL, claimed_until = NULL, attempts = ${attempts}, changes = ${JSON.stringify(changes)}::jsonb,
           due_at = now() + make_interval(secs => ${seconds})
     WHERE id = ${id} AND claim_id = ${claimId}`;
}
