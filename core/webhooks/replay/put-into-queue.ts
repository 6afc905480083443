import type { Db } from "../../db.ts";
import { targetHost } from "../target-host.ts";
import { ACTIVITY_CHANNEL, type AttemptKind, DELIVERY_CHANNEL, lanes } from "../vocabulary.ts";

export type Queued = {
  webhook: { id: string; ownerId: string; url: string | null };
  deliveryId: string;
  eventId: string;
  kind: Extract<AttemptKind, "replay" | "test">;
};

/**
 * Queues one delivery as the first attempt of a round, ahead of all that nobody waits for. One that is already waiting is
 * brought forward, so that it is never queued twice; one that is under way is left alone.
 * @returns how many attempts it had by then
 */
export async function putIntoQueue(tx: Db, { webhook, deliveryId, eventId, kind }: Queued): Promise<number> {
  await tx.$executeRaw`
    INSERT INTO delivery_queue AS q (id, webhook_id, owner_id, event_id, host, kind, lane)
    VALUES (${deliveryId}, ${webhook.id}, ${webhook.ownerId}, ${eventId}, ${targetHost(webhook.url)}, ${kind}, ${lanes.waitedFor})
    ON CONFLICT (id) DO UPDATE SET lane = excluded.lane, due_at = now(), host = excluded.host,
      kind = CASE WHEN q.kind = 'retry' THEN excluded.kind ELSE q.kind END
      WHERE q.claimed_until IS NULL OR q.claimed_until <= now()`;
  await tx.$executeRaw`
    UPDATE delivery SET state = 'waiting', finished_at = NULL
    WHERE id = ${deliveryId} AND state <> 'waiting' AND EXISTS (SELECT FROM delivery_queue q WHERE q.id = ${deliveryId})`;
  await tx.$executeRaw`SELECT pg_notify(${DELIVERY_CHANNEL}, ''), pg_notify(${ACTIVITY_CHANNEL}, ${webhook.id})`;
  // Read only now: an attempt recorded meanwhile is not the one that is waited for.
  const [row] = await tx.$queryRaw<{ attempts: number }[]>`SELECT attempts FROM delivery WHERE id = ${deliveryId}`;
  return row?.attempts ?? 0;
}
