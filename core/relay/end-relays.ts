import { db, inTransaction, pool } from "../db.ts";
import { failRequest } from "./inbox/fail-request.ts";
import { giveUpRequests } from "./inbox/give-up-requests.ts";
import { LISTENER_MARK, RELAY_CHANNEL } from "./relay.ts";

/** How long a connected listener has to answer. */
const ANSWER_MINUTES = 15;
/** How long expired relays are remembered, so that a user who reopens one learns which webhooks point to its old URL. */
const REMEMBERED_DAYS = 30;

/** Ends expired relays, gives up requests that their listener will not answer, and deletes answers that nobody read. */
export async function endRelays(): Promise<void> {
  const expired = await db().$queryRaw<{ id: string }[]>`
    SELECT r.id FROM relay r WHERE r.expires_at <= now() AND EXISTS (
      SELECT FROM relay_request q WHERE q.relay_id = r.id AND q.answered_at IS NULL) LIMIT 100`;
  for (const { id } of expired) {
    await inTransaction((tx) => giveUpRequests(tx, id, "the relay had expired before its listener answered"));
    await pool().query(`SELECT pg_notify('${RELAY_CHANNEL}', $1)`, [id + LISTENER_MARK]);
  }
  const { rows } = await pool().query<{ id: string }>(
    `SELECT id FROM relay_request WHERE answered_at IS NULL AND handed_until > now()
       AND handed_at < now() - make_interval(mins => ${ANSWER_MINUTES}) LIMIT 100`,
  );
  for (const { id } of rows) await failRequest(id, `its listener did not answer within ${ANSWER_MINUTES} minutes`);
  // Answers that nobody read, and recorded answers to deliveries.
  await pool().query(
    `DELETE FROM relay_request WHERE answered_at < now() - interval '10 minutes' AND (delivery_id IS NULL OR queued_at < now() - interval '10 minutes')`,
  );
  await pool().query(
    `DELETE FROM relay r WHERE (r.closed_at IS NOT NULL OR r.expires_at < now() - make_interval(days => ${REMEMBERED_DAYS}))
       AND NOT EXISTS (SELECT FROM relay_request q WHERE q.relay_id = r.id)`,
  );
}
