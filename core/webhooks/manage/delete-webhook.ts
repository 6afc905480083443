import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction } from "../../db.ts";
import { findWebhookToChange } from "./find-webhook.ts";
import { auditOrgId, targetInShort, type Webhook } from "./webhook.ts";

/**
 * Deletes a webhook for good (docs/specification/webhooks.md#states), with its waiting deliveries. Its history becomes unreachable and is
 * dropped with its daily partitions.
 * @returns the deleted webhook
 * @throws ServiceError `not_found`, `insufficient_scope`
 */
export async function deleteWebhook(actor: Actor, id: string, from: RequestOrigin, of?: string): Promise<Webhook> {
  return inTransaction(async (tx) => {
    const webhook = await findWebhookToChange(tx, actor, id, of);
    await removeWebhooks(tx, [id]);
    await recordAuditEvent(tx, {
      type: "webhook.delete",
      actorId: actorId(actor),
      orgId: auditOrgId(webhook.owner),
      clientId: clientIdOf(actor),
      data: { webhookId: id, target: targetInShort(webhook) },
      from,
    });
    return webhook;
  });
}

/**
 * Deletes webhooks with what they watch, their replays and all waiting deliveries. It checks no permission. If a concurrent
 * fan-out queues more for one of them, the delivery is dropped when it is to be sent, since its webhook is gone.
 */
async function removeWebhooks(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.$executeRaw`DELETE FROM webhook WHERE id = ANY (${ids})`;
  await tx.$executeRaw`DELETE FROM delivery_queue WHERE webhook_id = ANY (${ids})`;
  await tx.$executeRaw`DELETE FROM webhook_hour WHERE webhook_id = ANY (${ids})`;
}

/** Deletes all webhooks of an owner who is deleted. @returns how many there were */
export async function removeWebhooksOf(tx: Db, ownerId: string): Promise<number> {
  const rows = await tx.$queryRaw<{ id: string }[]>`SELECT id FROM webhook WHERE owner_id = ${ownerId}`;
  await removeWebhooks(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.length;
}
