import { pool } from "../../db.ts";
import { DELIVERY_CHANNEL, lanes } from "../vocabulary.ts";

/** A delivery's run has ended: makes its row due, so that the outcome is recorded at once. */
export async function wakeDelivery(deliveryId: string): Promise<void> {
  await pool().query(
    `with woken as (
       update delivery_queue set due_at = now(), lane = least(lane, $2) where id = $1 and due_at > now() and due_at < 'infinity' returning id
     )
     select pg_notify($3, '') from woken`,
    [deliveryId, lanes.first, DELIVERY_CHANNEL],
  );
}
