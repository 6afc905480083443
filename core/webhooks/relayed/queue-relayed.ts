import { pool } from "../../db.ts";
import { targetHost } from "../target-host.ts";
import { DELIVERY_CHANNEL, lanes } from "../vocabulary.ts";

const BATCH = 200;

/**
 * Queues deliveries that a relay had kept and whose handlers have now answered: the engine records the answer as an attempt,
 * and retries failed ones (S125). One that is already in the queue finds the answer there.
 * @returns how many there were
 */
export async function queueRelayed(): Promise<number> {
  const { rows } = await pool().query<{ id: string; url: string | null }>({
    name: "relayed-answers",
    text: `SELECT q.delivery_id AS id, w.url FROM relay_request q JOIN delivery d ON d.id = q.delivery_id JOIN webhook w ON w.id = d.webhook_id
           WHERE q.answered_at IS NOT NULL AND q.queued_at IS NULL AND coalesce(q.waited_until <= now(), true)
             AND NOT EXISTS (SELECT FROM delivery_queue other WHERE other.id = q.delivery_id)
           ORDER BY q.answered_at LIMIT ${BATCH}`,
  });
  if (rows.length > 0) {
    await pool().query({
      name: "queue-relayed",
      text: `WITH answered AS (
               SELECT q.id AS request_id, q.delivery_id AS id, q.delivery_tries AS tries, given.host
               FROM unnest($1::text[], $2::text[]) AS given(id, host) JOIN relay_request q ON q.delivery_id = given.id
               WHERE q.answered_at IS NOT NULL AND q.queued_at IS NULL FOR UPDATE OF q SKIP LOCKED
             ), put AS (
               INSERT INTO delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane, tries)
               SELECT a.id, d.webhook_id, d.owner_id, d.event_id, a.host, 'relay', ${lanes.first}, coalesce(a.tries, 0)
               FROM answered a JOIN delivery d ON d.id = a.id ON CONFLICT (id) DO NOTHING RETURNING id
             ), marked AS (
               UPDATE relay_request q SET queued_at = now() FROM answered a JOIN put ON put.id = a.id WHERE q.id = a.request_id
             )
             SELECT pg_notify('${DELIVERY_CHANNEL}', '') FROM put LIMIT 1`,
      values: [rows.map(({ id }) => id), rows.map(({ url }) => targetHost(url))],
    });
  }
  // Their delivery's history is gone: there is nothing to record it with.
  await pool().query(
    `DELETE FROM relay_request q WHERE q.answered_at IS NOT NULL AND q.delivery_id IS NOT NULL AND coalesce(q.waited_until <= now(), true)
       AND NOT EXISTS (SELECT FROM delivery d JOIN webhook w ON w.id = d.webhook_id WHERE d.id = q.delivery_id)`,
  );
  return rows.length;
}
