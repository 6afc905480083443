import { db, pool } from "../../../db.ts";
import { log } from "../../../log.ts";
import { readRepo } from "../../repos/read-repos.ts";
import { removeStaleFiles } from "../maintenance/remove-files.ts";
import { openRepository } from "../repository.ts";
import { UNDER_LOCK } from "../run-git.ts";
import { LEFT_LOCKS_OLDER_THAN_MS, REF_UPDATE_LEASE_SECONDS, type RefUpdateNote, readAhead } from "./change-refs.ts";
import { findRefs, hasHappened, readRefHistory } from "./git-refs.ts";
import { recordRefChanges } from "./record-ref-changes.ts";
import type { RefChange } from "./ref-name.ts";

const BATCH = 64;

type LeftoverNote = RefUpdateNote & { asked: RefChange[] };

/**
 * Records exactly the changes that happened (S122). Safe in several processes.
 * @returns whether there may be more
 */
export async function reconcileRefUpdates(): Promise<boolean> {
  const notes = await claim();
  for (const note of notes) {
    try {
      await reconcile(note);
    } catch (error) {
      log().warn({ err: error, repo: note.repoId }, "a change of refs could not be reconciled; trying again");
    }
  }
  return notes.length === BATCH;
}

/** Actors take turns (S137). The newest notes come first, because a later change shows the outcome of earlier ones. */
async function claim(): Promise<LeftoverNote[]> {
  const { rows } = await pool().query<LeftoverNote>(
    `UPDATE ref_update SET claimed_until = now() + make_interval(secs => $1)
      WHERE id IN (
        SELECT id FROM ref_update
          JOIN (SELECT id, row_number() OVER (PARTITION BY actor_id ORDER BY claimed_until) AS turn FROM ref_update
                 WHERE claimed_until <= now()) due USING (id)
         WHERE claimed_until <= now() ORDER BY turn, claimed_until LIMIT ${BATCH} FOR UPDATE OF ref_update SKIP LOCKED)
      RETURNING id, repo_id AS "repoId", actor_id AS "actorId", party, started_at AS "startedAt", asked`,
    [REF_UPDATE_LEASE_SECONDS],
  );
  return rows.sort((a, b) => b.startedAt.getTime() - a.startedAt.getTime());
}

async function reconcile({ asked, ...note }: LeftoverNote): Promise<void> {
  const repo = await readRepo(note.repoId);
  // The owner is disabled, and may be enabled again.
  if (!repo || (await isChangingElsewhere(note, asked))) return;
  const path = await openRepository(repo);
  await removeStaleFiles(path, { locksOlderThanMs: LEFT_LOCKS_OLDER_THAN_MS });
  const effects = await readAhead(repo, path, asked, note.startedAt);
  await db().$transaction(async (tx) => {
    const { refs } = await findRefs(path, new Set(asked.map(({ ref }) => ref)), UNDER_LOCK);
    const history = await readRefHistory(tx, note.repoId, note.startedAt, asked);
    const happened = asked.filter((change) => hasHappened(history, change, refs.get(change.ref) ?? null));
    const recorded = await recordRefChanges(tx, note, happened, effects);
    log().info(
      { repo: note.repoId, asked: asked.length, recorded: recorded?.changed.length ?? 0 },
      "a change of refs was reconciled",
    );
  });
}

/** While a live process changes the same ref, the ref's value does not show the outcome. */
async function isChangingElsewhere({ id, repoId }: RefUpdateNote, asked: readonly RefChange[]): Promise<boolean> {
  const { rows } = await pool().query<{ asked: RefChange[] }>(
    `SELECT asked FROM ref_update WHERE repo_id = $1 AND id <> $2 AND claimed_until > now() AND started_at > (SELECT started_at FROM ref_update WHERE id = $2)`,
    [repoId, id],
  );
  const refs = new Set(asked.map(({ ref }) => ref));
  return rows.some((other) => other.asked.some(({ ref }) => refs.has(ref)));
}
