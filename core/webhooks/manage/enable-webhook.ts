import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation, requireOwnWork } from "../../access/delegation.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { inTransaction } from "../../db.ts";
import { findWebhook, findWebhookToChange } from "./find-webhook.ts";
import { releaseHeld } from "./release-held.ts";
import { auditOrgId, targetInShort, type Webhook } from "./webhook.ts";

/**
 * Enables a webhook; one that is enabled stays so. What was held while it was not is due at once, and its failures are counted from
 * here on (S126).
 * @throws ServiceError `not_found`, `insufficient_scope`, `forbidden` for another app's
 */
export async function enableWebhook(actor: Actor, id: string, from: RequestOrigin, of?: string): Promise<Webhook> {
  return inTransaction(async (tx) => {
    const webhook = await findWebhookToChange(tx, actor, id, of);
    requireOwnWork(actor, webhook.madeWith, "webhook");
    if (webhook.disabledAt === null) return webhook;
    // What an app made acts with the rights of whoever enables it once the app's grant is gone.
    const isTakenOver = webhook.disabledReason === "grant_ended" || webhook.madeWith?.isEnded === true;
    await tx.webhook.update({
      where: { id },
      data: {
        disabledAt: null,
        // Why we had disabled it is kept until it delivers again, of which its owner is told then (S126).
        ...((webhook.disabledReason === "owner" || isTakenOver) && { disabledReason: null }),
        ...(isTakenOver && { createdById: actorId(actor), delegationId: await recordDelegation(tx, actor) }),
        failingSince: null,
        updatedAt: new Date(),
      },
    });
    const released = await releaseHeld(tx, id);
    await recordAuditEvent(tx, {
      type: "webhook.enable",
      actorId: actorId(actor),
      orgId: auditOrgId(webhook.owner),
      clientId: clientIdOf(actor),
      data: { webhookId: id, target: targetInShort(webhook), released },
      from,
    });
    return findWebhook(actor, id, { tx });
  });
}
