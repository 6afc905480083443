import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation, requireOwnWork } from "../../access/delegation.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { inTransaction } from "../../db.ts";
import { findWebhook, findWebhookToChange } from "./find-webhook.ts";
import { releaseHeld } from "./release-held.ts";
import { auditOrgId, targetInShort, type Webhook } from "./webhook.ts";

/**
 * Enables a webhook; one that is enabled is unchanged. Held deliveries become due at once, and failures are counted from now on
 * (S126).
 * @throws ServiceError `not_found`, `insufficient_scope`, `forbidden` for another app's
 */
export async function enableWebhook(actor: Actor, id: string, from: RequestOrigin, of?: string): Promise<Webhook> {
  return inTransaction(async (tx) => {
    const webhook = await findWebhookToChange(tx, actor, id, of);
    requireOwnWork(actor, webhook.madeWith, "webhook");
    if (webhook.disabledAt === null) return webhook;
    // Once an app's grant is gone, its webhook acts with the rights of the person who enables it.
    const isTakenOver = webhook.disabledReason === "grant_ended" || webhook.madeWith?.isEnded === true;
    await tx.webhook.update({
      where: { id },
      data: {
        disabledAt: null,
        // The reason for which we disabled it is kept until it delivers again; then its owner is told (S126).
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
