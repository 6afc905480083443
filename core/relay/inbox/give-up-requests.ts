import type { Db } from "../../db.ts";
import { RELAY_ANSWER_CHANNEL, RELAY_DELIVERY_CHANNEL } from "../relay.ts";

/**
 * Ends all unanswered requests of a relay. Our own deliveries and requests with a waiting caller get the reason; the others
 * have nobody to tell.
 */
export async function giveUpRequests(tx: Db, relayId: string, why: string): Promise<void> {
  await tx.$executeRaw`
    WITH told AS (
      UPDATE relay_request SET answered_at = now(), failure = ${why}
      WHERE relay_id = ${relayId} AND answered_at IS NULL AND (delivery_id IS NOT NULL OR waited_until > now())
      RETURNING id
    )
    SELECT pg_notify(${RELAY_ANSWER_CHANNEL}, id), pg_notify(${RELAY_DELIVERY_CHANNEL}, '') FROM told`;
  await tx.$executeRaw`DELETE FROM relay_request WHERE relay_id = ${relayId} AND answered_at IS NULL`;
}
