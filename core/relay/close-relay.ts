import { type Actor, actorId, clientIdOf } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { RequestOrigin } from "../audit/request-origin.ts";
import { type Db, db, inTransaction, pool } from "../db.ts";
import { notFound } from "../errors.ts";
import { abandonRequests, failRequest } from "./inbox/answer-request.ts";
import { isRelayOf, LISTENER_MARK, RELAY_CHANNEL } from "./relay.ts";

export async function closeRelay(actor: Actor, userId: string, name: string, from: RequestOrigin): Promise<void> {
  await inTransaction(async (tx) => {
    await requirePermission(actor, "relay.manage", { userId }, { what: "Relay", tx });
    const [closed] = await tx.$queryRaw<{ id: string }[]>`
      UPDATE relay r SET closed_at = now(), expires_at = least(expires_at, now()), listening_until = NULL
      WHERE user_id = ${userId} AND name = ${name.replaceAll("\0", "")} AND closed_at IS NULL AND ${isRelayOf(actor)} RETURNING id`;
    if (!closed) throw notFound("Relay");
    await disconnectListener(tx, closed.id);
    const by = { actorId: actorId(actor), clientId: clientIdOf(actor), subjectId: userId };
    await recordAuditEvent(tx, { type: "relay.close", ...by, data: { name }, from });
  });
}

export async function closeDelegatedRelays(tx: Db, delegationIds: readonly string[]): Promise<void> {
  const closed = await tx.$queryRaw<{ id: string; userId: string; name: string; clientId: string | null }[]>`
    UPDATE relay SET closed_at = now(), expires_at = least(expires_at, now()), listening_until = NULL
    WHERE delegation_id = ANY (${[...delegationIds]}) AND closed_at IS NULL RETURNING id, user_id AS "userId", name,
      (SELECT d.client_id FROM delegation d WHERE d.id = delegation_id) AS "clientId"`;
  for (const { id, userId, name, clientId } of closed) {
    await disconnectListener(tx, id);
    const data = { name, reason: "the app or token that opened it no longer has access" };
    await recordAuditEvent(tx, { type: "relay.close", subjectId: userId, clientId, data });
  }
}

async function disconnectListener(tx: Db, relayId: string): Promise<void> {
  await abandonRequests(tx, relayId, "the relay was closed before its listener responded");
  await tx.$executeRaw`SELECT pg_notify(${RELAY_CHANNEL}, ${relayId + LISTENER_MARK})`;
}

const ANSWER_MINUTES = 15;
/** A user who reopens a relay learns which webhooks have the old URL. */
const REMEMBERED_DAYS = 30;

export async function endRelays(): Promise<void> {
  const expired = await db().$queryRaw<{ id: string }[]>`
    SELECT r.id FROM relay r WHERE r.expires_at <= now() AND EXISTS (
      SELECT FROM relay_request q WHERE q.relay_id = r.id AND q.answered_at IS NULL) LIMIT 100`;
  for (const { id } of expired) {
    await inTransaction((tx) => abandonRequests(tx, id, "the relay expired before its listener responded"));
    await pool().query(`SELECT pg_notify('${RELAY_CHANNEL}', $1)`, [id + LISTENER_MARK]);
  }
  const { rows } = await pool().query<{ id: string }>(
    `SELECT id FROM relay_request WHERE answered_at IS NULL AND handed_until > now()
       AND handed_at < now() - make_interval(mins => ${ANSWER_MINUTES}) LIMIT 100`,
  );
  for (const { id } of rows) await failRequest(id, `the relay's listener did not respond within ${ANSWER_MINUTES} minutes`);
  await pool().query(
    `DELETE FROM relay_request WHERE answered_at < now() - interval '10 minutes' AND (delivery_id IS NULL OR queued_at < now() - interval '10 minutes')`,
  );
  await pool().query(
    `DELETE FROM relay r WHERE (r.closed_at IS NOT NULL OR r.expires_at < now() - make_interval(days => ${REMEMBERED_DAYS}))
       AND NOT EXISTS (SELECT FROM relay_request q WHERE q.relay_id = r.id)`,
  );
}
