import { pool } from "#core/db.ts";
import { gather } from "#core/postgres/gather.ts";
import { type ArtifactRow, selectArtifact } from "../artifact-rows.ts";
import { idHash, isForged, type Payload, toPayload } from "../artifact-store.ts";
import { POLL_INTERVAL_SECONDS } from "../lifetimes.ts";

/** How much too early a poll may arrive: the previous one may have taken longer on the way. */
const POLL_TOLERANCE_SECONDS = 0.5;

type Poll = { hash: string; clientId: string };
type PolledRow = ArtifactRow & { interval_seconds: number | null; is_too_fast: boolean };

/**
 * Reads device codes and paces their polls in one statement: the target load is a thousand polls a second. Only unanswered codes are paced.
 * Concurrent polls of one code run one after the other at its row; rows are written in the order of their key, so that two processes cannot
 * deadlock. Before version 18 Postgres cannot return the old row, so a poll that came too early shows by its interval having grown.
 */
function pollStatement(size: number): string {
  const places = Array.from({ length: size }, (_, at) => [`$${4 + 2 * at}`, `$${5 + 2 * at}`] as const);
  const isOwn = places.map(([hash, client]) => `(id_hash = ${hash} AND payload ->> 'clientId' = ${client})`).join(" OR ");
  return `WITH artifact AS (${selectArtifact(`a.id_hash IN (${places.map(([hash]) => hash).join(", ")})`)}),
    polled AS (
      INSERT INTO oauth_device_poll AS p (id_hash, polled_at, interval_seconds)
      SELECT id_hash, now(), $2::int FROM artifact
        WHERE consumed_at IS NULL AND payload ->> 'accountId' IS NULL AND payload ->> 'error' IS NULL
          AND (payload ->> 'exp')::float8 > extract(epoch FROM now()) AND (${isOwn})
        ORDER BY id_hash
      ON CONFLICT (id_hash) DO UPDATE SET polled_at = greatest(p.polled_at, excluded.polled_at),
        interval_seconds = p.interval_seconds + CASE
          WHEN excluded.polled_at < p.polled_at + make_interval(secs => p.interval_seconds - $3::float8) THEN $2 ELSE 0 END
      RETURNING id_hash, interval_seconds)
    SELECT artifact.*, polled.interval_seconds,
        coalesce(polled.interval_seconds > coalesce(before.interval_seconds, $2), false) AS is_too_fast
      FROM artifact LEFT JOIN polled USING (id_hash) LEFT JOIN oauth_device_poll before USING (id_hash)`;
}

// One statement per number of codes, as in artifact-rows.ts.
const statements = [1, 2, 4, 8, 16].map((size) => ({ size, name: `device-codes-poll-${size}`, text: pollStatement(size) }));
const LARGEST = 16;

async function pollAll(polls: Poll[]): Promise<(PolledRow | undefined)[]> {
  // Of two polls of one code in the same turn, the second one has not waited.
  const isFirst = polls.map(({ hash }, at) => polls.findIndex((other) => other.hash === hash) === at);
  const rows = await pollEach(polls.filter((_, at) => isFirst[at]));
  const repeated = polls.filter((_, at) => !isFirst[at]);
  const later = repeated.length > 0 ? await pollAll(repeated) : [];
  return isFirst.map((first) => (first ? rows.shift() : later.shift()));
}

async function pollEach(polls: Poll[]): Promise<(PolledRow | undefined)[]> {
  const { size, name, text } = statements.find((each) => each.size >= polls.length) as (typeof statements)[number];
  const padded = Array.from({ length: size }, (_, at) => (polls[at] ?? polls[0]) as Poll);
  const asked = padded.flatMap(({ hash, clientId }) => [hash, clientId]);
  const values = ["DeviceCode", POLL_INTERVAL_SECONDS, POLL_TOLERANCE_SECONDS, ...asked];
  const { rows } = await pool().query<PolledRow>({ name, text, values });
  const byHash = new Map(rows.map((row) => [row.id_hash, row]));
  return polls.map(({ hash }) => byHash.get(hash));
}

const poll = gather(pollAll, LARGEST);

export type PolledArtifact = {
  payload: Payload;
  /** The pace that this client must keep; undefined if there is an answer, or the code belongs to another client. */
  pace?: { isTooFast: boolean; intervalSeconds: number };
};

/** A device code that a client polls; the poll is counted while the code has no answer. */
export async function pollArtifact(id: string, clientId: string): Promise<PolledArtifact | undefined> {
  if (isForged(id)) return undefined;
  const row = await poll({ hash: idHash(id), clientId });
  if (!row) return undefined;
  const payload = toPayload(row, id);
  const { interval_seconds: intervalSeconds, is_too_fast: isTooFast } = row;
  // By the clock with which the engine set and checks the expiry; the database's may be behind.
  const isOver = Number(payload.exp) * 1000 <= Date.now();
  return intervalSeconds === null || isOver ? { payload } : { payload, pace: { isTooFast, intervalSeconds } };
}
