import { type ReadableOwners, readableEvent } from "../../access/readable-owners.ts";
import { pool } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import type { HeaderList } from "../inbox/take-request.ts";
import { RELAY_BODY_MAX_BYTES } from "../relay.ts";

export type HandedRequest = {
  id: string;
  method: string;
  path: string;
  headers: HeaderList;
  body: Buffer;
  receivedAt: Date;
  isFromInbox: boolean;
  deliveryId: string | null;
};

export const LEASE_SECONDS = 20;
/** A disconnected listener has this time to reconnect, before its requests go to the next listener. */
export const GRACE_SECONDS = 5;

/** Requests that a slow listener has not read are held in memory. */
const BATCH = 4;
const BATCH_BYTES = RELAY_BODY_MAX_BYTES;

export type ListenerReach = {
  owners: readonly string[] | null;
  readable: ReadableOwners | null;
};

export type Connection = { relayId: string; listenerId: string; connectionId: string };

type Row = {
  id: string;
  method: string;
  path: string;
  headers: HeaderList;
  body: Buffer;
  received_at: Date;
  is_from_inbox: boolean;
  delivery_id: string | null;
};

/**
 * @param room how many requests the listener accepts now
 * @param known requests that this connection has already received
 * @param reach what the listener may receive
 */
export async function handOver(
  { relayId, listenerId, connectionId }: Connection,
  { room, known, reach }: { room: number; known: readonly string[]; reach: ListenerReach },
): Promise<HandedRequest[]> {
  const isReadable = reach.readable ? readableEvent(reach.readable) : Prisma.sql`TRUE`;
  const { text, values } = Prisma.sql`
    WITH oldest AS (
      SELECT q.id, q.bytes, q.received_at FROM relay_request q JOIN relay r ON r.id = q.relay_id
      WHERE r.id = ${relayId} AND r.connection_id = ${connectionId} AND q.answered_at IS NULL
        AND (q.handed_to IS NULL OR q.handed_until < now() OR (q.handed_to = ${listenerId} AND q.id <> ALL (${known}::text[])))
        AND NOT EXISTS (
          SELECT FROM delivery d JOIN event e ON e.id = d.event_id LEFT JOIN repo r ON r.id = e.repo_id
          WHERE d.id = q.delivery_id AND NOT (
            (${reach.owners}::text[] IS NULL OR d.owner_id = ANY (${reach.owners}::text[])) AND ${isReadable}))
      ORDER BY q.received_at, q.id LIMIT ${Math.min(room, BATCH)} FOR UPDATE OF q SKIP LOCKED
    ), mine AS (
      SELECT id FROM (
        SELECT id, row_number() OVER oldest_first AS nth, sum(bytes) OVER oldest_first AS bytes_so_far
        FROM oldest WINDOW oldest_first AS (ORDER BY received_at, id)
      ) each WHERE nth = 1 OR bytes_so_far <= ${BATCH_BYTES}::bigint
    )
    UPDATE relay_request q SET handed_to = ${listenerId},
      handed_at = coalesce(CASE WHEN q.handed_to = ${listenerId} THEN q.handed_at END, now()),
      handed_until = now() + make_interval(secs => ${LEASE_SECONDS})
    FROM mine WHERE q.id = mine.id
    RETURNING q.id, q.method, q.path, q.headers, q.body, q.received_at,
      -- A worker that was killed while it waited could not record that it stopped waiting.
      q.is_from_inbox OR coalesce(q.waited_until <= now(), true) AS is_from_inbox, q.delivery_id`;
  const { rows } = await pool().query<Row>(text, values as unknown[]);
  return rows
    .sort((a, b) => a.received_at.getTime() - b.received_at.getTime() || (a.id < b.id ? -1 : 1))
    .map(({ received_at, is_from_inbox, delivery_id, ...rest }) => ({
      ...rest,
      receivedAt: received_at,
      isFromInbox: is_from_inbox,
      deliveryId: delivery_id,
    }));
}

export async function stillOpen(ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await pool().query<{ id: string }>({
    name: "open-relayed",
    text: "SELECT id FROM relay_request WHERE id = ANY ($1) AND answered_at IS NULL",
    values: [ids],
  });
  return new Set(rows.map(({ id }) => id));
}
