import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation, requireOwnWork } from "../../access/delegation.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { seal, unseal } from "../../crypto/seal.ts";
import { type Db, inTransaction } from "../../db.ts";
import { findWebhook, findWebhookToChange } from "./find-webhook.ts";
import { newWebhookSecret } from "./parse-webhook.ts";
import { auditOrgId, PREVIOUS_SECRET_HOURS, type Webhook } from "./webhook.ts";

/**
 * For a day, deliveries are also signed with the previous secret (S123).
 * @returns the secret, which is never shown again (S130)
 */
export async function rotateWebhookSecret(
  actor: Actor,
  id: string,
  from: RequestOrigin,
  of?: string,
): Promise<{ webhook: Webhook; secret: string }> {
  const secret = newWebhookSecret();
  return inTransaction(async (tx) => {
    const { owner, madeWith } = await findWebhookToChange(tx, actor, id, of);
    requireOwnWork(actor, madeWith, "webhook");
    await replaceSecret(tx, id, secret);
    // A client that knows the secret could forge deliveries, so the webhook stops when the client's grant ends.
    await tx.webhook.update({
      where: { id },
      data: { createdById: actorId(actor), delegationId: await recordDelegation(tx, actor) },
    });
    await recordAuditEvent(tx, {
      type: "webhook.rotate_secret",
      actorId: actorId(actor),
      orgId: auditOrgId(owner),
      clientId: clientIdOf(actor),
      data: { webhookId: id },
      from,
    });
    return { webhook: await findWebhook(actor, id, { tx }), secret };
  });
}

/**
 * If there is no secret, deliveries are not signed.
 * @param keepsSigning false if the target changed, because a new receiver could replay what the old secret signed
 */
export async function replaceSecret(
  tx: Db,
  webhookId: string,
  secret: string | null,
  { keepsSigning = true }: { keepsSigning?: boolean } = {},
): Promise<void> {
  const sealed = secret === null ? null : seal("webhook secret", secret);
  const isKept = sealed !== null && keepsSigning;
  // A repeated request must not end the overlap that the first one began.
  if (isKept && (await currentSecret(tx, webhookId)) === secret) return;
  await tx.$executeRaw`
    UPDATE webhook SET secret = ${sealed},
      previous_secret = CASE WHEN ${isKept} THEN secret END,
      previous_secret_until = CASE WHEN ${isKept} AND secret IS NOT NULL
                                THEN now() + make_interval(hours => ${PREVIOUS_SECRET_HOURS}) END,
      updated_at = now()
    WHERE id = ${webhookId}`;
}

async function currentSecret(tx: Db, webhookId: string): Promise<string | null> {
  const { secret } = await tx.webhook.findUniqueOrThrow({ where: { id: webhookId }, select: { secret: true } });
  return secret && unseal("webhook secret", secret);
}
