import type { Db } from "../../db.ts";

/**
 * Takes webhooks out with what they watch, their replays and all that waits to be sent. It asks nobody's permission. What a fan-out that
 * has just found one of them puts into the queue after that is dropped when it is to be sent, since its webhook is not there.
 */
export async function removeWebhooks(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.$executeRaw`DELETE FROM webhook WHERE id = ANY (${ids})`;
  await tx.$executeRaw`DELETE FROM delivery_queue WHERE webhook_id = ANY (${ids})`;
  await tx.$executeRaw`DELETE FROM webhook_hour WHERE webhook_id = ANY (${ids})`;
}

/** The same for all webhooks of somebody who goes. @returns how many there were */
export async function removeWebhooksOf(tx: Db, ownerId: string): Promise<number> {
  const rows = await tx.$queryRaw<{ id: string }[]>`SELECT id FROM webhook WHERE owner_id = ${ownerId}`;
  await removeWebhooks(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.length;
}
