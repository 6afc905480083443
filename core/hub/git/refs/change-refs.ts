import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Actor, type ActorNow, actorId } from "../../../access/actor.ts";
import { partyOf, requirePermission } from "../../../access/may.ts";
import { db, pool } from "../../../db.ts";
import { conflict, notFound, ServiceError } from "../../../errors.ts";
import { newId } from "../../../ids.ts";
import { log } from "../../../log.ts";
import { requireShowable } from "../../discussions/follow-ref-changes.ts";
import { type RefEffects, readRefEffects } from "../../discussions/read-ref-effects.ts";
import { adoptFiles } from "../../lfs/proposals/proposed-files.ts";
import { countEvent } from "../../repos/count-event.ts";
import { readCardAhead } from "../../repos/read-card.ts";
import { isLockedByOthers, readRepo } from "../../repos/read-repos.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { recountRepository } from "../count-objects.ts";
import { MAINTENANCE_DELAY_SECONDS } from "../maintenance/maintain-repository.ts";
import { walks } from "../queues.ts";
import { deadlineIn } from "../read/walk.ts";
import { repositoryPath } from "../repository.ts";
import { RanOutOfTime, runGit } from "../run-git.ts";
import type { Quarantine } from "../write/quarantine.ts";
import { updateRefs } from "./git-refs.ts";
import { LOOSE_REFS_MAX } from "./loose-refs.ts";
import { type Recorded, recordRefChanges } from "./record-ref-changes.ts";
import type { RefChange } from "./ref-name.ts";
import { type PermissionCheck, recheckPermission, requireChangeable } from "./require-changeable.ts";

/** After this time without renewal by its process, a change is taken over. */
export const REF_UPDATE_LEASE_SECONDS = 30;
/**
 * When the lease of a killed process ends, its locks are at least 20 seconds old, because it renewed the lease of 30 seconds every 10. This
 * is five seconds less, because the clocks of other machines may differ.
 */
export const LEFT_LOCKS_OLDER_THAN_MS = 15_000;
/** How many cards are read in advance: a first push may create many branches, and the default branch is not known yet. */
const HEADS_READ_AHEAD = 4;
/** The time within which git must compute the effects on pull requests. The rest follows later (late-changes.ts). */
const EFFECTS_MAX_MS = 2_000;
const RECORD_TRIES = 4;
const RECORD_AGAIN_MS = 500;
const HEARTBEAT_MS = (REF_UPDATE_LEASE_SECONDS / 3) * 1_000;

/** A planned change of refs (the table `ref_update`). */
export type RefUpdateNote = {
  id: string;
  repoId: string;
  actorId: string | null;
  /** Against whom the commits count that it shows (`partyOf`). */
  party: string | null;
  /** By the database's clock, like all times that are compared with it: another process's clock may be behind. */
  startedAt: Date;
};

/**
 * Lets git change refs, and records the outcome as one event. All changes of refs use this function: pushes, commits over the API, merges.
 *
 * Refs are files, and an event is a row: no transaction covers both. So the planned changes are written to a note before git starts, and
 * the note is deleted in the transaction that records the outcome. A process that is killed in between leaves the note behind, and
 * reconcile.ts finds out from the refs themselves what happened (S122). It does the same when `perform` or the recording fails: every
 * change that happened is recorded soon after the lease has ended.
 *
 * @param asked the changes that `perform` may make: reconcile.ts cannot find others after a crash.
 * @param perform changes the refs, each only if it still is at `oldSha`, and returns those changed. If two callers want to change the same
 * ref at the same time, git decides between them. When it returns or throws, everything that it started has ended. If it throws a
 * ServiceError other than RanOutOfTime, it has changed no ref.
 * @param quarantine the folder with the objects that `perform` will add, if they are not in the repository yet
 * @returns undefined when nothing was changed.
 * @throws ServiceError `not_found` when the repository was deleted meanwhile; `conflict` when large files were deleted from it after the
 * caller read it; `unavailable` when the changes were made but could not be recorded in time; `rate_limited`; whatever `perform` throws
 */
export async function changeRefs(
  repo: Repo,
  actor: Actor,
  asked: readonly RefChange[],
  perform: () => Promise<readonly RefChange[]>,
  quarantine?: string,
): Promise<Recorded | undefined> {
  const party = partyOf(actor);
  await requireShowable(asked, party ?? repo.id);
  await countEvent(repo, actor, { updatedRefs: asked });
  const { note, hasProposals } = await insertNote(
    { id: newId(), repoId: repo.id, actorId: actorId(actor), party },
    asked,
    repo.lfsRemovedAt,
  );
  const heartbeat = setInterval(() => void renew(note.id), HEARTBEAT_MS);
  try {
    if (hasProposals)
      await adoptFiles(repo, repositoryPath(repo.id), asked, quarantine).catch((error: unknown) => dropNote(note, error));
    const changed = await perform().catch(async (error: unknown) => {
      // `perform` may have added objects, which stay on the disk and count. If counting fails too, reconcile.ts counts them.
      await recountRepository(repo.id).catch((err: unknown) =>
        log().warn({ err, repo: repo.id }, "a repository's size could not be counted"),
      );
      // Otherwise requests that are refused again and again would leave more notes than reconcile.ts can examine (S137).
      if (error instanceof ServiceError && !(error instanceof RanOutOfTime)) return dropNote(note, error);
      throw error;
    });
    if (changed.filter(({ newSha }) => newSha).length > LOOSE_REFS_MAX) await packRefs(repo.id);
    const effects = await readAhead(repo, repositoryPath(repo.id), changed, note.startedAt);
    return await retryWhileLocked(() => db().$transaction((tx) => recordRefChanges(tx, note, changed, effects)));
  } finally {
    clearInterval(heartbeat);
  }
}

/**
 * Git writes each ref to a file of its own: many would take more of the disk than what they point to (S137). If packing them
 * fails, maintenance tries again.
 */
async function packRefs(id: string): Promise<void> {
  const path = repositoryPath(id);
  const options = { isLimited: true, config: ["core.fsync=reference"] };
  await walks
    .run(() => runGit(path, ["pack-refs", "--all", "--prune"], options), { within: path })
    .catch((err: unknown) => log().warn({ err, repo: id }, "the refs of a repository could not be packed"));
}

/**
 * Does all work whose duration the pusher can influence (parsers, git), before anything is locked and within a time limit (S137).
 * @returns the effects of the changes on pull requests, as far as git answered in time; the cards are kept for `knownCard`
 */
export async function readAhead(
  repo: Pick<Repo, "id" | "defaultBranch" | "headSha" | "platformId" | "sizeBytes">,
  path: string,
  changed: readonly RefChange[],
  at: Date,
): Promise<RefEffects> {
  const [effects] = await Promise.all([
    readRefEffects(repo, changed, { at, deadline: deadlineIn(EFFECTS_MAX_MS) }),
    readCardAhead(path, newHeads(repo, changed)),
  ]);
  return effects;
}

/**
 * Retries while others lock the repository or one of its discussions, because the refs have changed already. It holds no
 * connection in between.
 */
async function retryWhileLocked<T>(record: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await record();
    } catch (error) {
      if (!isLockedByOthers(error)) throw error;
      if (tries === RECORD_TRIES)
        throw new ServiceError("unavailable", RECORDED_LATER, { cause: error, retryAfterSeconds: REF_UPDATE_LEASE_SECONDS });
      await delay(RECORD_AGAIN_MS * (1 + Math.random()));
    }
  }
}

const RECORDED_LATER = "This repository is busy. Your change was made and will be visible soon. Check before you try again.";

/** The commits that may become the default branch's. An empty repository's default branch is not known before its row is locked. */
function newHeads({ defaultBranch, headSha }: Pick<Repo, "defaultBranch" | "headSha">, changed: readonly RefChange[]): string[] {
  const likely = [`refs/heads/${defaultBranch}`, "refs/heads/master"];
  const isHead = (ref: string) => (headSha === null ? ref.startsWith("refs/heads/") : ref === likely[0]);
  const heads = changed.filter(({ ref, newSha }) => newSha && isHead(ref));
  const sorted = heads.toSorted((one, other) => Number(likely.includes(other.ref)) - Number(likely.includes(one.ref)));
  return sorted.flatMap(({ newSha }) => newSha ?? []).slice(0, HEADS_READ_AHEAD);
}

/**
 * @param lfsRemovedAt as the caller has read it. A deletion of large files locks the repository's row, and starts only if the repository
 *   has no note.
 */
async function insertNote(
  note: Omit<RefUpdateNote, "startedAt">,
  asked: readonly RefChange[],
  lfsRemovedAt: Date | null,
): Promise<{ note: RefUpdateNote; hasProposals: boolean }> {
  const { id, repoId, actorId, party } = note;
  const { rows } = await pool().query<{ startedAt: Date; hasProposals: boolean }>({
    name: "insert-ref-update",
    text: `WITH present AS MATERIALIZED (SELECT id, lfs_removed_at FROM repo WHERE id = $2 FOR KEY SHARE), due AS (
               INSERT INTO repo_maintenance (id, due_at)
               SELECT id, now() + make_interval(secs => $6) FROM present ON CONFLICT (id) DO NOTHING
             )
             INSERT INTO ref_update (id, repo_id, actor_id, party, asked, claimed_until)
             SELECT $1, id, $3, $8, $4, now() + make_interval(secs => $5) FROM present
              WHERE lfs_removed_at IS NOT DISTINCT FROM $7::timestamptz
             RETURNING started_at AS "startedAt", EXISTS (SELECT FROM proposed_file WHERE repo_id = $2) AS "hasProposals"`,
    values: [
      id,
      repoId,
      actorId,
      JSON.stringify(asked),
      REF_UPDATE_LEASE_SECONDS,
      MAINTENANCE_DELAY_SECONDS,
      lfsRemovedAt,
      party,
    ],
  });
  const [made] = rows;
  if (made) return { note: { ...note, startedAt: made.startedAt }, hasProposals: made.hasProposals };
  if (!(await readRepo(repoId))) throw notFound("Repository");
  throw conflict("Large files were deleted from this repository in the meantime. Try again.");
}

/** Deletes a note of changes that were not made. */
async function dropNote({ id }: RefUpdateNote, error: unknown): Promise<never> {
  await pool().query("DELETE FROM ref_update WHERE id = $1", [id]);
  throw error;
}

async function renew(id: string): Promise<void> {
  await pool()
    .query(`UPDATE ref_update SET claimed_until = now() + make_interval(secs => $2) WHERE id = $1`, [
      id,
      REF_UPDATE_LEASE_SECONDS,
    ])
    .catch((error: unknown) => log().warn({ err: error }, "cannot renew the record of a ref update"));
}

type MoveTarget = {
  repo: Repo;
  path: string;
  actorNow: ActorNow;
  /** The permission that this change requires besides the right to write. */
  ask?: PermissionCheck;
  /** The new objects to which the refs will point. A refused change must leave none: no quota would count them (S137). */
  quarantine?: Quarantine;
};

/**
 * Points refs to commits, all of them or none, as one event.
 * @throws ServiceError `conflict` when one of them is no longer at `oldSha`; `not_found` when the repository was deleted; `forbidden`
 * and the like when the actor may no longer write to it
 */
export async function moveRefs(target: MoveTarget, changes: readonly RefChange[]): Promise<Recorded> {
  const { repo, path, actorNow, ask, quarantine } = target;
  const actor = await recheckPermission(repo, actorNow, async (now, current) => {
    await requirePermission(now, "repo.write", repoResource(current), { what: "Repository" });
    requireChangeable(current);
    await ask?.(now, current);
  });
  let isOutdated = false;
  const perform = async () => {
    await quarantine?.release();
    const changed = await updateRefs(path, changes);
    isOutdated = changed.length === 0;
    return changed;
  };
  const recorded = await changeRefs(repo, actor, changes, perform, quarantine && join(quarantine.path, "objects"));
  if (recorded) return recorded;
  if (!isOutdated) throw notFound("Repository");
  throw conflict(`Another request has just changed ${changes.map(({ ref }) => shortName(ref)).join(", ")}. Try again.`);
}

/** `main` of `refs/heads/main`. */
const shortName = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, "");
