import { setTimeout as delay } from "node:timers/promises";
import { type Actor, actorId } from "../../../access/actor.ts";
import { db, pool } from "../../../db.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import { newId } from "../../../ids.ts";
import { log } from "../../../log.ts";
import { type Meaning, readMeaning } from "../../discussions/read-meaning.ts";
import { readCardAhead } from "../../repos/read-card.ts";
import { isKeptBusy } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";
import { recountRepository } from "../count-objects.ts";
import { MAINTENANCE_DELAY_SECONDS } from "../maintenance/maintenance-table.ts";
import { deadlineIn } from "../read/walk.ts";
import { repositoryPath } from "../repository.ts";
import { type Recorded, recordRefChanges } from "./record-ref-changes.ts";
import type { RefChange } from "./ref-change.ts";

/** After this time without renewal by its process, a change is taken over. */
export const REF_UPDATE_LEASE_SECONDS = 30;
/** A first push may bring many branches. */
const HEADS_READ_AHEAD = 4;
/** How long git may take to say what changes mean for pull requests. The rest follows later (late-changes.ts). */
const MEANING_MAX_MS = 2_000;
const RECORD_TRIES = 4;
const RECORD_AGAIN_MS = 500;
const HEARTBEAT_MS = (REF_UPDATE_LEASE_SECONDS / 3) * 1_000;

/** A planned change of refs (the table `ref_update`). */
export type Note = {
  id: string;
  repoId: string;
  actorId: string | null;
  /** By the database's clock, as all times compared with it: another process's clock may be behind. */
  startedAt: Date;
};

/**
 * Lets git change refs, and records the outcome as one event. Every change of a ref goes through here, whoever requests it: a push, a
 * commit by the API, a merge.
 *
 * Refs are files, and an event is a row: no transaction covers both. So the request is written to a note before git starts, and the note
 * is deleted in the transaction that records the outcome. A process that is killed in between leaves the note behind, and reconcile.ts
 * finds out from the refs themselves what happened (S122). It does the same when `perform` or the recording fails: nothing is lost, and
 * whatever refs did change is recorded within the lease.
 *
 * @param asked what `perform` may change: other changes cannot be found again after a crash.
 * @param perform changes the refs, each only if it still is at `oldSha`, and returns those changed. If two callers want to change the
 * same ref at the same time, git decides between them. When it returns or throws, everything that it started has ended.
 * @returns undefined when nothing was changed.
 * @throws ServiceError `not_found` when the repository was deleted meanwhile; whatever `perform` throws
 */
export async function changeRefs(
  repo: Pick<Repo, "id" | "defaultBranch" | "headSha" | "platformId">,
  actor: Actor,
  asked: readonly RefChange[],
  perform: () => Promise<readonly RefChange[]>,
): Promise<Recorded | undefined> {
  const note = await insertNote({ id: newId(), repoId: repo.id, actorId: actorId(actor) }, asked);
  const heartbeat = setInterval(() => void renew(note.id), HEARTBEAT_MS);
  try {
    const changed = await perform().catch(async (error: unknown) => {
      // Objects that it brought stay on the disk. If this fails too, reconcile.ts counts them.
      await recountRepository(repo.id).catch((err: unknown) =>
        log().warn({ err, repo: repo.id }, "a repository was not counted"),
      );
      throw error;
    });
    const meaning = await readAhead(repo, repositoryPath(repo.id), changed, note.startedAt);
    return await unlessLocked(() => db().$transaction((tx) => recordRefChanges(tx, note, changed, meaning)));
  } finally {
    clearInterval(heartbeat);
  }
}

/**
 * Reads, before anything is locked and within a limit, what may take parsers and git as long as the pusher likes (S137).
 * @returns what the changes mean for pull requests, as far as git answered in time; `knownCard` has the cards
 */
export async function readAhead(
  repo: Pick<Repo, "id" | "defaultBranch" | "headSha" | "platformId">,
  path: string,
  changed: readonly RefChange[],
  at: Date,
): Promise<Meaning> {
  const [meaning] = await Promise.all([
    readMeaning(repo, changed, { at, deadline: deadlineIn(MEANING_MAX_MS) }),
    readCardAhead(path, newHeads(repo, changed)),
  ]);
  return meaning;
}

/** Retries while others lock the repository or one of its discussions, because the refs have changed already. It holds no connection in between. */
async function unlessLocked<T>(record: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await record();
    } catch (error) {
      if (!isKeptBusy(error)) throw error;
      if (tries === RECORD_TRIES)
        throw new ServiceError("unavailable", RECORDED_LATER, { cause: error, retryAfterSeconds: REF_UPDATE_LEASE_SECONDS });
      await delay(RECORD_AGAIN_MS * (1 + Math.random()));
    }
  }
}

const RECORDED_LATER =
  "This repository is busy. Your change was made and will be recorded in a moment. Check before you try again.";

/** The possible new heads of the default branch: for an empty repository that is not known before its row is locked. */
function newHeads({ defaultBranch, headSha }: Pick<Repo, "defaultBranch" | "headSha">, changed: readonly RefChange[]): string[] {
  const likely = [`refs/heads/${defaultBranch}`, "refs/heads/master"];
  const isHead = (ref: string) => (headSha === null ? ref.startsWith("refs/heads/") : ref === likely[0]);
  const heads = changed.filter(({ ref, newSha }) => newSha && isHead(ref));
  const sorted = heads.toSorted((one, other) => Number(likely.includes(other.ref)) - Number(likely.includes(one.ref)));
  return sorted.flatMap(({ newSha }) => newSha ?? []).slice(0, HEADS_READ_AHEAD);
}

async function insertNote(note: Omit<Note, "startedAt">, asked: readonly RefChange[]): Promise<Note> {
  const { id, repoId, actorId } = note;
  const { rows } = await pool()
    .query<Pick<Note, "startedAt">>({
      name: "insert-ref-update",
      text: `WITH due AS (
               INSERT INTO repo_maintenance (id, due_at) VALUES ($2, now() + make_interval(secs => $6)) ON CONFLICT (id) DO NOTHING
             )
             INSERT INTO ref_update (id, repo_id, actor_id, asked, claimed_until)
             VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5)) RETURNING started_at AS "startedAt"`,
      values: [id, repoId, actorId, JSON.stringify(asked), REF_UPDATE_LEASE_SECONDS, MAINTENANCE_DELAY_SECONDS],
    })
    .catch((cause: { code?: string }) => {
      throw cause.code === FOREIGN_KEY_VIOLATION ? notFound("Repository") : cause;
    });
  return { ...note, startedAt: rows[0]?.startedAt as Date };
}

const FOREIGN_KEY_VIOLATION = "23503";

async function renew(id: string): Promise<void> {
  await pool()
    .query(`UPDATE ref_update SET claimed_until = now() + make_interval(secs => $2) WHERE id = $1`, [
      id,
      REF_UPDATE_LEASE_SECONDS,
    ])
    .catch((error: unknown) => log().warn({ err: error }, "cannot renew the note of a change of refs"));
}
