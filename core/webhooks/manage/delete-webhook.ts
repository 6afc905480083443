import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction } from "../../db.ts";
import { findWebhookToChange } from "./find-webhook.ts";
import { auditOrgId, targetInShort, type Webhook } from "./webhook.ts";

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

/** Checks no permission. A delivery that is queued meanwhile is dropped when it is to be sent. */
async function removeWebhooks(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.$executeRaw`DELETE FROM webhook WHERE id = ANY (${ids})`;
  await tx.$executeRaw`DELETE FROM delivery_queue WHERE webhook_id = ANY (${ids})`;
  await tx.$executeRaw`DELETE FROM webhook_hour WHERE webhook_id = ANY (${ids})`;
}

export async function removeWebhooksOf(tx: Db, ownerId: string): Promise<number> {
  const rows = await tx.$queryRaw<{ id: string }[]>`SELECT id FROM webhook WHERE owner_id = ${ownerId}`;
  await removeWebhooks(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.length;
}
