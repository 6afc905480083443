import type { Db } from "../../db.ts";

/**
 * Deletes webhooks with what they watch, their replays and all waiting deliveries. It checks no permission. If a concurrent
 * fan-out queues more for one of them, the delivery is dropped when it is to be sent, since its webhook is gone.
 */
export async function removeWebhooks(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.$executeRaw`DELETE FROM webhook WHERE id = ANY (${ids})`;
  await tx.$executeRaw`DELETE FROM delivery_queue WHERE webhook_id = ANY (${ids})`;
  await tx.$executeRaw`DELETE FROM webhook_hour WHERE webhook_id = ANY (${ids})`;
}

/** The same for all webhooks of an owner who is deleted. @returns how many there were */
export async function removeWebhooksOf(tx: Db, ownerId: string): Promise<number> {
  const rows = await tx.$queryRaw<{ id: string }[]>`SELECT id FROM webhook WHERE owner_id = ${ownerId}`;
  await removeWebhooks(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.length;
}
