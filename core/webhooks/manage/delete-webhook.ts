import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { inTransaction } from "../../db.ts";
import { findWebhookToChange } from "./find-webhook.ts";
import { removeWebhooks } from "./remove-webhooks.ts";
import { auditOrgId, targetInShort, type Webhook } from "./webhook.ts";

/**
 * Deletes a webhook for good (docs/specification/webhooks.md#states), with its waiting deliveries. Its history becomes
 * unreachable and is dropped with its days.
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
