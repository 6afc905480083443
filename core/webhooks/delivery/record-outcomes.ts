import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import { type Db, db } from "../../db.ts";
import type { DisabledReason } from "../vocabulary.ts";
import { FAILING_MAX_MS } from "./decide.ts";
import type { Attempt, Done, EventLease } from "./delivery.ts";
import { emailOwner, webhookDisabledEmail, webhookRecoveredEmail } from "./email-owner.ts";
import { isClaimLost, recordClaimed, recordDeliveries } from "./record-deliveries.ts";

/** A result that disables a webhook, or is the first success after that, has a transaction of its own (S126). */
export async function recordOutcomes(all: readonly Done[], ended: readonly EventLease[] = []): Promise<void> {
  for (const done of all.filter(changesWebhook)) await recordWithChange(done);
  await recordDeliveries(
    all.filter((done) => !changesWebhook(done)),
    ended,
  );
}

const changesWebhook = ({ step }: Done): boolean =>
  step.step === "attempted" && (step.decision.disables !== null || step.decision.isRecovery);

async function recordWithChange(done: Done): Promise<void> {
  const { delivery, step } = done;
  if (step.step !== "attempted") return;
  try {
    await db().$transaction(async (tx) => {
      await recordClaimed([done], [], (text, values) => tx.$queryRawUnsafe(text, ...values));
      const { disables, isRecovery } = step.decision;
      if (disables) await disableWebhook(tx, delivery.webhookId, disables, step.attempt);
      if (isRecovery) await emailRecovery(tx, delivery.webhookId);
    });
  } catch (error) {
    if (!isClaimLost(error)) throw error;
  }
}

/** Does not disable a webhook that was disabled or has delivered meanwhile (S125, S126). */
async function disableWebhook(
  tx: Db,
  webhookId: string,
  reason: Extract<DisabledReason, "failing" | "gone">,
  { url, reason: failure, answer }: Attempt,
): Promise<void> {
  const [webhook] = await tx.$queryRaw<{ ownerId: string; ownerKind: "user" | "organization" }[]>`
    UPDATE webhook SET disabled_at = now(), disabled_reason = ${reason}
    WHERE id = ${webhookId} AND disabled_at IS NULL
      AND (${reason} = 'gone' OR failing_since <= now() - make_interval(secs => ${FAILING_MAX_MS / 1000}))
    RETURNING owner_id AS "ownerId", owner_kind AS "ownerKind"`;
  if (!webhook) return;
  const { ownerId, ownerKind } = webhook;
  await recordAuditEvent(tx, {
    type: "webhook.suspend",
    orgId: ownerKind === "organization" ? ownerId : null,
    subjectId: ownerKind === "user" ? ownerId : null,
    data: { webhookId, reason, target: hostOfTarget(url) ?? "a job" },
  });
  const lastFailure = answer ? `the target responded with status ${answer.status}` : failure;
  await emailOwner(tx, { id: ownerId, kind: ownerKind }, (recipientName, settings) =>
    webhookDisabledEmail({ webhookId, reason, target: hostOfTarget(url), lastFailure }, recipientName, settings),
  );
}

/** The path and the query may contain a secret. */
const hostOfTarget = (url: string | null): string | null => url && (URL.parse(url)?.host ?? "its address");

/** Only the first delivery after the service disabled the webhook causes this email (S126). */
async function emailRecovery(tx: Db, webhookId: string): Promise<void> {
  const [webhook] = await tx.$queryRaw<{ ownerId: string; ownerKind: "user" | "organization"; url: string | null }[]>`
    UPDATE webhook SET disabled_reason = NULL
    WHERE id = ${webhookId} AND disabled_at IS NULL AND disabled_reason IN ('failing', 'gone')
    RETURNING owner_id AS "ownerId", owner_kind AS "ownerKind", url`;
  if (!webhook) return;
  const { ownerId, ownerKind, url } = webhook;
  await emailOwner(tx, { id: ownerId, kind: ownerKind }, (recipientName, settings) =>
    webhookRecoveredEmail({ webhookId, target: hostOfTarget(url) }, recipientName, settings),
  );
}
