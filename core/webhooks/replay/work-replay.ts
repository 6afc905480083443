import type pg from "pg";
import { db, pool, withConnection } from "../../db.ts";
import { firstIdAt } from "../../ids.ts";
import { targetHost } from "../target-host.ts";
import { ACTIVITY_CHANNEL, DELIVERY_CHANNEL, lanes } from "../vocabulary.ts";
import { takeOutOfQueue } from "./start-replay.ts";
import type { ReplayRow } from "./webhook-replay.ts";

/** A transaction queues at most `BATCH` deliveries, and a replay has at most `IN_QUEUE_MAX` in the queue. */
const BATCH = 250;
const IN_QUEUE_MAX = 1_000;

const PAUSE_SECONDS = 1;
const HELD_SECONDS = 30;

/** Each batch commits together with the cursor, so that a killed worker neither skips a delivery nor queues one twice. */
export async function workReplay(replay: ReplayRow, claimId: string): Promise<void> {
  const webhook = await db().webhook.findUnique({ where: { id: replay.webhook_id } });
  if (!webhook) return;
  if (replay.cancelled_at) {
    await db().$transaction((tx) => takeOutOfQueue(tx, replay.id, replay.webhook_id));
    return end(replay, claimId, { isAllQueued: true, pauseSeconds: PAUSE_SECONDS });
  }
  if (webhook.disabledAt) return end(replay, claimId, { isAllQueued: false, pauseSeconds: HELD_SECONDS });
  let { cursor } = replay;
  while ((await countInQueue(replay.id)) <= IN_QUEUE_MAX - BATCH) {
    const next = await queueBatch({ ...replay, cursor }, claimId, targetHost(webhook.url));
    if (next === "lost") return;
    if (next === null) return end(replay, claimId, { isAllQueued: true, pauseSeconds: PAUSE_SECONDS });
    cursor = next;
  }
  await end(replay, claimId, { isAllQueued: false, pauseSeconds: PAUSE_SECONDS });
}

async function countInQueue(replayId: string): Promise<number> {
  const { rows } = await pool().query<{ count: number }>(
    "SELECT count(*)::int AS count FROM delivery_queue WHERE replay_id = $1",
    [replayId],
  );
  return rows[0]?.count ?? 0;
}

/** @returns the new cursor, null if nothing was left, or "lost" if the claim was lost or the replay was cancelled */
async function queueBatch(replay: ReplayRow, claimId: string, host: string): Promise<string | null | "lost"> {
  return withConnection(async (client) => {
    await client.query("BEGIN");
    const batch = await nextBatch(client, replay);
    const cursor = batch.at(-1);
    if (cursor === undefined) {
      await client.query("ROLLBACK");
      return null;
    }
    const queued = await putBatch(client, replay, batch, host);
    // Attempts lock the queue's rows before the replay's row, so this row comes last here too.
    const { rowCount } = await client.query(
      `UPDATE webhook_replay SET cursor = $3, queued = queued + $4
       WHERE id = $1 AND claim_id = $2 AND cancelled_at IS NULL AND cursor IS NOT DISTINCT FROM $5`,
      [replay.id, claimId, cursor, queued, replay.cursor],
    );
    await client.query(rowCount === 1 ? "COMMIT" : "ROLLBACK");
    return rowCount === 1 ? cursor : "lost";
  });
}

async function nextBatch(client: pg.ClientBase, replay: ReplayRow): Promise<string[]> {
  const { webhook_id, delivery_ids, since, until, cursor } = replay;
  if (since === null || until === null) {
    return (delivery_ids ?? []).filter((id) => cursor === null || id > cursor).slice(0, BATCH);
  }
  const { rows } = await client.query<{ id: string }>({
    name: "replay-failed",
    text: `SELECT d.id FROM delivery d
           WHERE d.webhook_id = $1 AND d.state = 'failed' AND d.id > $2 AND d.id >= $3 AND d.id < $4 ORDER BY d.id LIMIT ${BATCH}`,
    values: [webhook_id, cursor ?? "", firstIdAt(since), firstIdAt(until)],
  });
  return rows.map(({ id }) => id);
}

async function putBatch(client: pg.ClientBase, replay: ReplayRow, batch: string[], host: string): Promise<number> {
  const { rows } = await client.query<{ queued: number }>({
    name: "replay-put",
    text: `WITH queued AS (
             INSERT INTO delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane, replay_id)
             SELECT d.id, d.webhook_id, d.owner_id, d.event_id, $3, CASE d.kind WHEN 'test' THEN 'test' ELSE 'replay' END, $4, $5
             FROM delivery d WHERE d.id = ANY ($1) AND d.webhook_id = $2 AND d.state <> 'waiting'
               AND EXISTS (SELECT FROM event e WHERE e.id = d.event_id)
             ORDER BY d.id
             ON CONFLICT (id) DO NOTHING RETURNING id
           ), marked AS (
             UPDATE delivery d SET state = 'waiting', finished_at = NULL FROM queued q WHERE d.id = q.id
           )
           SELECT count(*)::int AS queued, pg_notify('${DELIVERY_CHANNEL}', ''), pg_notify('${ACTIVITY_CHANNEL}', $2) FROM queued`,
    values: [batch, replay.webhook_id, host, lanes.again, replay.id],
  });
  return rows[0]?.queued ?? 0;
}

/** The list of an ended replay is deleted, because lists would fill the database (S137). */
async function end(
  { id }: ReplayRow,
  claimId: string,
  { isAllQueued, pauseSeconds }: { isAllQueued: boolean; pauseSeconds: number },
): Promise<void> {
  await pool().query(
    `UPDATE webhook_replay SET claim_id = NULL, claimed_until = NULL, due_at = now() + make_interval(secs => $3),
       finished_at = CASE WHEN over.is_over THEN now() END, delivery_ids = CASE WHEN over.is_over THEN '{}' ELSE delivery_ids END
     FROM (SELECT $4 AND NOT EXISTS (SELECT FROM delivery_queue q WHERE q.replay_id = $1) AS is_over) over
     WHERE id = $1 AND claim_id = $2`,
    [id, claimId, pauseSeconds, isAllQueued],
  );
}
