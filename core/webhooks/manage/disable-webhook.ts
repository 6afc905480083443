import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { inTransaction } from "../../db.ts";
import { findWebhook, findWebhookToChange } from "./find-webhook.ts";
import { auditOrgId, targetInShort, type Webhook } from "./webhook.ts";

/**
 * Disables a webhook without deleting it (docs/specification/webhooks.md#states): events no longer trigger it, and waiting
 * deliveries are held until it is enabled. One that is already disabled is unchanged, whoever disabled it.
 * @throws ServiceError `not_found`, `insufficient_scope`
 */
export async function disableWebhook(actor: Actor, id: string, from: RequestOrigin, of?: string): Promise<Webhook> {
  return inTransaction(async (tx) => {
    const webhook = await findWebhookToChange(tx, actor, id, of);
    if (webhook.disabledAt !== null) return webhook;
    await tx.webhook.update({
      where: { id },
      data: { disabledAt: new Date(), disabledReason: "owner", updatedAt: new Date() },
    });
    await recordAuditEvent(tx, {
      type: "webhook.disable",
      actorId: actorId(actor),
      orgId: auditOrgId(webhook.owner),
      clientId: clientIdOf(actor),
      data: { webhookId: id, target: targetInShort(webhook) },
      from,
    });
    return findWebhook(actor, id, { tx });
  });
}
