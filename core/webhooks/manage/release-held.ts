import { type Db, pool } from "../../db.ts";
import { DELIVERY_CHANNEL, lanes } from "../vocabulary.ts";

/** Makes the deliveries due that were held until the webhook is enabled. @returns how many there were */
export async function releaseHeld(tx: Db, webhookId: string): Promise<number> {
  const released =
    await tx.$executeRaw`UPDATE delivery_queue SET due_at = now() WHERE webhook_id = ${webhookId} AND due_at = 'infinity'`;
  if (released > 0) await tx.$executeRaw`SELECT pg_notify(${DELIVERY_CHANNEL}, '')`;
  return released;
}

/**
 * The same for forgotten ones: a worker that saw its webhook disabled may hold a delivery at the very moment when the webhook
 * is enabled or deleted. A worker calls this now and then, so that nothing waits forever (S122).
 */
export async function releaseForgotten(): Promise<number> {
  const { rowCount } = await pool().query(
    `UPDATE delivery_queue q SET due_at = now()
      WHERE q.lane = ANY ($1) AND q.due_at = 'infinity'
        AND NOT EXISTS (SELECT FROM webhook w WHERE w.id = q.webhook_id AND w.disabled_at IS NOT NULL)`,
    [Object.values(lanes)],
  );
  return rowCount ?? 0;
}
