import { pool } from "../../db.ts";
import { SPACE_CHANNEL } from "../stages.ts";

/** How exactly it is known when a Space was last asked for, in seconds. */
const RESOLUTION_SECONDS = 30;
const RESOLUTION_MS = RESOLUTION_SECONDS * 1_000;
const noted = new Map<string, number>();

/** Has a sleeping Space started, for a request that came for it. Whoever may read it may; one that is paused stays so. */
export async function wakeSpace(repoId: string): Promise<void> {
  await pool().query(
    `WITH woken AS (
       UPDATE space_runtime SET stage = 'APP_STARTING', message = NULL, is_wanted = true, restarts = 0, due_at = now(), updated_at = now(),
         last_request_at = now()
       WHERE repo_id = $1 AND stage IN ('SLEEPING', 'STOPPED') RETURNING repo_id
     ) SELECT pg_notify($2, repo_id) FROM woken`,
    [repoId, SPACE_CHANNEL],
  );
}

/** Notes that a Space is in use; twice a minute is often enough to know when nobody does any more. */
export async function noteRequest(repoId: string, now = Date.now()): Promise<void> {
  if (now - (noted.get(repoId) ?? 0) < RESOLUTION_MS) return;
  if (noted.size > 10_000) noted.clear();
  noted.set(repoId, now);
  await pool().query(
    `UPDATE space_runtime SET last_request_at = now()
      WHERE repo_id = $1 AND (last_request_at IS NULL OR last_request_at < now() - make_interval(secs => $2))`,
    [repoId, RESOLUTION_SECONDS],
  );
}
