import { pool } from "../../db.ts";
import { AWAITED_SECONDS } from "../controls/wake-space.ts";
import { SPACE_CHANNEL } from "../stages.ts";
import { SPACE_PARTY } from "./space-table.ts";

/** Spaces that were woken and found no place go back to sleep when nobody waits for them any more. */
export async function letUnawaitedSleep(): Promise<void> {
  await pool().query(
    `WITH asleep AS (
       UPDATE space_runtime SET stage = 'SLEEPING', is_wanted = false, awaited_at = NULL, updated_at = now()
        WHERE is_wanted AND awaited_at < now() - make_interval(secs => $1) AND (claimed_until IS NULL OR claimed_until <= now())
        RETURNING repo_id
     ) SELECT pg_notify($2, repo_id) FROM asleep`,
    [AWAITED_SECONDS, SPACE_CHANNEL],
  );
}

/** Whose Space is next to get a place, and how many places each party has on all workers. */
export type Crowd = { waiting: string; places: ReadonlyMap<string, number> };

/** Undefined while no Space waits for a place. */
export async function readCrowd(): Promise<Crowd | undefined> {
  const { rows } = await pool().query<{ party: string; places: number; waitsSince: Date | null }>(
    `SELECT ${SPACE_PARTY} AS party, (count(*) FILTER (WHERE claimed_until > now()))::int AS places,
            min(due_at) FILTER (WHERE due_at <= now() - interval '1 second' AND (claimed_until IS NULL OR claimed_until <= now())) AS "waitsSince"
       FROM space_runtime WHERE is_wanted GROUP BY 1 ORDER BY places, "waitsSince"`,
  );
  const next = rows.find(({ waitsSince }) => waitsSince !== null);
  return next && { waiting: next.party, places: new Map(rows.map(({ party, places }) => [party, places])) };
}
