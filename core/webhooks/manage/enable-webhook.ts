import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation, requireOwnWork } from "../../access/delegation.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction, pool } from "../../db.ts";
import { DELIVERY_CHANNEL, lanes } from "../vocabulary.ts";
import { findWebhook, findWebhookToChange } from "./find-webhook.ts";
import { auditOrgId, targetInShort, type Webhook } from "./webhook.ts";

/** Failures are counted from this moment on (S126). */
export async function enableWebhook(actor: Actor, id: string, from: RequestOrigin, of?: string): Promise<Webhook> {
  return inTransaction(async (tx) => {
    const webhook = await findWebhookToChange(tx, actor, id, of);
    requireOwnWork(actor, webhook.madeWith, "webhook");
    if (webhook.disabledAt === null) return webhook;
    // If an app's grant is gone, the webhook acts with the rights of the user who enables it.
    const isTakenOver = webhook.disabledReason === "grant_ended" || webhook.madeWith?.isEnded === true;
    await tx.webhook.update({
      where: { id },
      data: {
        disabledAt: null,
        // The reason stays until the webhook delivers again, when the owner is notified (S126).
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

async function releaseHeld(tx: Db, webhookId: string): Promise<number> {
  const released =
    await tx.$executeRaw`UPDATE delivery_queue SET due_at = now() WHERE webhook_id = ${webhookId} AND due_at = 'infinity'`;
  if (released > 0) await tx.$executeRaw`SELECT pg_notify(${DELIVERY_CHANNEL}, '')`;
  return released;
}

/** A worker may put a delivery on hold just when the webhook is enabled or deleted (S122). */
export async function releaseForgotten(): Promise<number> {
  const { rowCount } = await pool().query(
    `UPDATE delivery_queue q SET due_at = now()
      WHERE q.lane = ANY ($1) AND q.due_at = 'infinity'
        AND NOT EXISTS (SELECT FROM webhook w WHERE w.id = q.webhook_id AND w.disabled_at IS NOT NULL)`,
    [Object.values(lanes)],
  );
  return rowCount ?? 0;
}
