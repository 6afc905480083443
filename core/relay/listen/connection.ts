import type { Actor } from "../../access/actor.ts";
import { pool } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { isRelayOf, LISTENER_MARK, RELAY_CHANNEL } from "../relay.ts";
import { type Connection, GRACE_SECONDS, LEASE_SECONDS } from "./hand-over.ts";

/**
 * A new listener replaces the one before.
 * @returns undefined if the actor has no such relay, or the relay has expired
 */
export async function connect(
  actor: Actor,
  { userId, name, listenerId }: { userId: string; name: string; listenerId: string },
): Promise<Connection | undefined> {
  const connectionId = newId();
  const { text, values } = Prisma.sql`
    WITH ours AS (
      UPDATE relay r SET listener_id = ${listenerId}, connection_id = ${connectionId},
        listening_until = now() + make_interval(secs => ${LEASE_SECONDS})
      WHERE user_id = ${userId} AND name = ${name.replaceAll("\0", "")} AND closed_at IS NULL AND expires_at > now() AND ${isRelayOf(actor)}
      RETURNING id
    )
    SELECT id, pg_notify(${RELAY_CHANNEL}, id || ${LISTENER_MARK}) FROM ours`;
  const { rows } = await pool().query<{ id: string }>(text, values as unknown[]);
  const [row] = rows;
  return row && { relayId: row.id, listenerId, connectionId };
}

/** `replaced`: another listener took over. `over`: the relay has ended, or this listener reconnected. */
export type ListenerState = "listening" | "replaced" | "over";

export async function renew({ relayId, listenerId, connectionId }: Connection): Promise<ListenerState> {
  const { rows } = await pool().query<{ state: ListenerState }>({
    name: "renew-relay-connection",
    text: `WITH ours AS (
             UPDATE relay SET listening_until = now() + make_interval(secs => ${LEASE_SECONDS})
             WHERE id = $1 AND connection_id = $3 AND closed_at IS NULL AND expires_at > now() RETURNING id
           ), held AS (
             UPDATE relay_request q SET handed_until = now() + make_interval(secs => ${LEASE_SECONDS}) FROM ours
             WHERE q.relay_id = ours.id AND q.handed_to = $2 AND q.answered_at IS NULL
           )
           SELECT CASE WHEN EXISTS (SELECT FROM ours) THEN 'listening'
             WHEN r.listener_id IS DISTINCT FROM $2 AND r.closed_at IS NULL AND r.expires_at > now() THEN 'replaced' ELSE 'over' END AS state
           FROM relay r WHERE r.id = $1`,
    values: [relayId, listenerId, connectionId],
  });
  return rows[0]?.state ?? "over";
}

/** The listener keeps its requests for a moment, in which it may reconnect. */
export async function disconnect({ relayId, listenerId, connectionId }: Connection): Promise<void> {
  await pool().query({
    name: "disconnect-relay",
    text: `WITH ours AS (
             UPDATE relay SET listening_until = NULL WHERE id = $1 AND connection_id = $3 RETURNING id
           )
           UPDATE relay_request q SET handed_until = now() + make_interval(secs => ${GRACE_SECONDS}) FROM ours
           WHERE q.relay_id = ours.id AND q.handed_to = $2 AND q.answered_at IS NULL`,
    values: [relayId, listenerId, connectionId],
  });
}
