import { type Actor, actorId } from "../../../access/actor.ts";
import { db, pool } from "../../../db.ts";
import { newId } from "../../../ids.ts";
import { log } from "../../../log.ts";
import type { Repo } from "../../repos/repo.ts";
import { type Recorded, recordRefChanges } from "./record-ref-changes.ts";
import type { RefChange } from "./ref-change.ts";

/** How long a change that its process no longer renews is left alone. */
export const REF_UPDATE_LEASE_SECONDS = 30;
const HEARTBEAT_MS = (REF_UPDATE_LEASE_SECONDS / 3) * 1_000;

/**
 * Lets git change refs, and records what became of it as one event. Every change of a ref goes through here, whoever asks for it: a
 * push, a commit by the API, a merge.
 *
 * Refs are files, and an event is a row: no transaction covers both. So what is asked is written down before git is let at it, and
 * that note goes in the transaction that records the outcome. A process that is killed in between leaves the note behind, and
 * reconcile.ts finds out from the refs themselves what happened (S122).
 *
 * @param perform changes the refs, each only if it still is what `oldSha` says; and says which were changed. Two that want the same
 * ref at the same time are told apart by git, not by us.
 * @returns undefined when nothing was changed.
 */
export async function changeRefs(
  repo: Pick<Repo, "id">,
  actor: Actor,
  asked: readonly RefChange[],
  perform: () => Promise<readonly RefChange[]>,
): Promise<Recorded | undefined> {
  const id = newId();
  await pool().query({
    name: "insert-ref-update",
    text: `INSERT INTO ref_update (id, repo_id, actor_id, asked, claimed_until)
           VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))`,
    values: [id, repo.id, actorId(actor), JSON.stringify(asked), REF_UPDATE_LEASE_SECONDS],
  });
  const heartbeat = setInterval(() => void renew(id), HEARTBEAT_MS);
  try {
    const changed = await perform();
    return await db().$transaction((tx) => recordRefChanges(tx, { id, repoId: repo.id, actorId: actorId(actor) }, changed));
  } finally {
    // After a failure the note stays, without a lease: whatever refs did change is recorded by the next reconciliation.
    clearInterval(heartbeat);
  }
}

async function renew(id: string): Promise<void> {
  await pool()
    .query(`UPDATE ref_update SET claimed_until = now() + make_interval(secs => $2) WHERE id = $1`, [
      id,
      REF_UPDATE_LEASE_SECONDS,
    ])
    .catch((error: unknown) => log().warn({ err: error }, "cannot renew the note of a change of refs"));
}
