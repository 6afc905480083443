import { db } from "../../db.ts";
import { mayBeTold as mayWebhookBeTold } from "../may-be-told.ts";

/** Whether a webhook's owner may receive an event now, as checked before each attempt (S129). */
export async function mayOwnerRead(webhookId: string, eventId: string): Promise<boolean> {
  const rows = await db().$queryRaw<unknown[]>`
    SELECT 1 FROM event e JOIN webhook w ON w.id = ${webhookId} LEFT JOIN repo r ON r.id = e.repo_id
    WHERE e.id = ${eventId} AND ${mayWebhookBeTold()}`;
  return rows.length > 0;
}

/** The same for the webhook and the event of a delivery; false if either is gone. */
export async function mayBeTold(deliveryId: string): Promise<boolean> {
  const delivery = await db().delivery.findUnique({ where: { id: deliveryId }, select: { webhookId: true, eventId: true } });
  return delivery !== null && (await mayOwnerRead(delivery.webhookId, delivery.eventId));
}
