import { pool } from "#core/db.ts";
import { type ArtifactRow, selectArtifact } from "../artifact-rows.ts";
import { idHash, isForged, type Payload, toPayload } from "../artifact-store.ts";
import { POLL_INTERVAL_SECONDS } from "../lifetimes.ts";

/**
 * A device code together with the pace of its polls, in one statement: the load to hold is a thousand polls a second. Only a
 * code that still waits is paced; two polls at once follow each other at the row that both would write. Postgres 17 cannot
 * return what a row was before, so that whether this poll came too early shows by its interval having grown.
 */
const POLL = `WITH artifact AS (${selectArtifact("a.id_hash = $2")}), polled AS (
    INSERT INTO oauth_device_poll AS p (id_hash, polled_at, interval_seconds)
    SELECT id_hash, now(), $4 FROM artifact
      WHERE consumed_at IS NULL AND payload ->> 'clientId' = $3 AND payload ->> 'accountId' IS NULL
        AND payload ->> 'error' IS NULL AND (payload ->> 'exp')::float8 > extract(epoch FROM now())
    ON CONFLICT (id_hash) DO UPDATE SET polled_at = greatest(p.polled_at, excluded.polled_at),
      interval_seconds = p.interval_seconds + CASE
        WHEN excluded.polled_at < p.polled_at + make_interval(secs => p.interval_seconds - $5::float8) THEN $4 ELSE 0 END
    RETURNING interval_seconds)
  SELECT artifact.*, polled.interval_seconds AS "intervalSeconds",
      coalesce(polled.interval_seconds > coalesce(before.interval_seconds, $4), false) AS "isTooFast"
    FROM artifact LEFT JOIN polled ON true LEFT JOIN oauth_device_poll before ON before.id_hash = artifact.id_hash`;

/** How much earlier than asked a poll may arrive: the one before it was on its way for longer. */
const POLL_TOLERANCE_SECONDS = 0.5;

export type PolledArtifact = { payload: Payload; isTooFast: boolean; intervalSeconds: number };

/** A device code that this client polls; the poll is counted while the code has no answer. */
export async function pollArtifact(id: string, clientId: string): Promise<PolledArtifact | undefined> {
  if (isForged(id)) return undefined;
  const values = ["DeviceCode", idHash(id), clientId, POLL_INTERVAL_SECONDS, POLL_TOLERANCE_SECONDS];
  const { rows } = await pool().query<ArtifactRow & PolledArtifact>({ name: "device-code-poll", text: POLL, values });
  const [row] = rows;
  return row && { payload: toPayload(row, id), isTooFast: row.isTooFast, intervalSeconds: row.intervalSeconds };
}
