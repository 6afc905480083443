import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Actor, type ActorNow, actorId } from "../../../access/actor.ts";
import { partyOf, requirePermission } from "../../../access/may.ts";
import { inTransaction, pool } from "../../../db.ts";
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

export const REF_UPDATE_LEASE_SECONDS = 30;
/** When the lease ends, a killed process's locks are at least 20 seconds old. Clocks may differ by five seconds. */
export const LEFT_LOCKS_OLDER_THAN_MS = 15_000;
/** A first push may create many branches, and the default branch is not known before. */
const HEADS_READ_AHEAD = 4;
const EFFECTS_MAX_MS = 2_000;
const RECORD_TRIES = 4;
const RECORD_AGAIN_MS = 500;
const RENEW_MS = (REF_UPDATE_LEASE_SECONDS / 3) * 1_000;

export type RefUpdateNote = {
  id: string;
  repoId: string;
  actorId: string | null;
  /** The caller whose limit counts the commits that pull requests show. */
  party: string | null;
  /** By the database's clock, because another process's clock may be slow. */
  startedAt: Date;
};

/**
 * Call this for every change of refs. No transaction covers refs and events, so a note of the planned changes exists until the
 * outcome is recorded (S122).
 * @param asked all changes that `perform` may make
 * @param perform changes each ref only if it is still at `oldSha`, and returns the changes. When it returns, all its processes
 * must have ended. After a ServiceError other than RanOutOfTime, no ref may have changed.
 * @param quarantine the folder with the objects that `perform` will add
 * @returns undefined if nothing was changed
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
  const renewal = setInterval(() => void renew(note.id), RENEW_MS);
  try {
    if (hasProposals)
      await adoptFiles(repo, repositoryPath(repo.id), asked, quarantine).catch((error: unknown) => dropNote(note, error));
    const changed = await perform().catch(async (error: unknown) => {
      // Objects that `perform` left on the disk count toward the repository's size.
      await recountRepository(repo.id).catch((err: unknown) =>
        log().warn({ err, repo: repo.id }, "a repository's size could not be counted"),
      );
      // reconcile.ts examines notes that stay. Refused requests leave none, because there may be very many (S137).
      if (error instanceof ServiceError && !(error instanceof RanOutOfTime)) return dropNote(note, error);
      throw error;
    });
    if (changed.filter(({ newSha }) => newSha).length > LOOSE_REFS_MAX) await packRefs(repo.id);
    const effects = await readAhead(repo, repositoryPath(repo.id), changed, note.startedAt);
    return await retryWhileLocked(() => inTransaction((tx) => recordRefChanges(tx, note, changed, effects)));
  } finally {
    clearInterval(renewal);
  }
}

/** S137: a loose ref is a file, which takes far more of the disk than its content. */
async function packRefs(id: string): Promise<void> {
  const path = repositoryPath(id);
  const options = { isLimited: true, config: ["core.fsync=reference"] };
  await walks
    .run(() => runGit(path, ["pack-refs", "--all", "--prune"], options), { within: path })
    .catch((err: unknown) => log().warn({ err, repo: id }, "the refs of a repository could not be packed"));
}

/** Pushers influence how long this takes, so lock nothing before (S137). */
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

/** The refs have changed already, so recording must succeed. No connection is held between attempts. */
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

/** In an empty repository, the default branch is known only under the row's lock. */
function newHeads({ defaultBranch, headSha }: Pick<Repo, "defaultBranch" | "headSha">, changed: readonly RefChange[]): string[] {
  const likely = [`refs/heads/${defaultBranch}`, "refs/heads/master"];
  const isHead = (ref: string) => (headSha === null ? ref.startsWith("refs/heads/") : ref === likely[0]);
  const heads = changed.filter(({ ref, newSha }) => newSha && isHead(ref));
  const sorted = heads.toSorted((one, other) => Number(likely.includes(other.ref)) - Number(likely.includes(one.ref)));
  return sorted.flatMap(({ newSha }) => newSha ?? []).slice(0, HEADS_READ_AHEAD);
}

/** @param lfsRemovedAt the value before the caller's checks, because large files may have been deleted since */
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
  ask?: PermissionCheck;
  /** A refused change must leave no new objects, which no quota counts (S137). */
  quarantine?: Quarantine;
};

/** Changes all refs or none, and records one event. */
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

const shortName = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, "");
