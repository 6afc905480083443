import { pool } from "../../db.ts";
import { DELIVERY_CHANNEL, lanes } from "../vocabulary.ts";

/** The run by which a delivery reached its job is over: its outcome is recorded at once and not when its row falls due. */
export async function wakeDelivery(deliveryId: string): Promise<void> {
  await pool().query(
    `with woken as (
       update delivery_queue set due_at = now(), lane = least(lane, $2) where id = $1 and due_at > now() and due_at < 'infinity' returning id
     )
     select pg_notify($3, '') from woken`,
    [deliveryId, lanes.first, DELIVERY_CHANNEL],
  );
}
