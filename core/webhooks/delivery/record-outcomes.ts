import { db } from "../../db.ts";
import { disableWebhook } from "./disable-webhook.ts";
import { type Done, isClaimLost, recordClaimed, recordDeliveries } from "./record-deliveries.ts";
import { tellRecovery } from "./tell-recovery.ts";

/**
 * Records a batch. A result that disables a webhook, or is its first delivery since it was enabled again, is recorded in its
 * own transaction together with that and with the letters about it (S126).
 */
export async function recordOutcomes(all: readonly Done[]): Promise<void> {
  await recordDeliveries(all.filter((done) => !isNews(done)));
  for (const done of all.filter(isNews)) await recordNews(done);
}

const isNews = ({ step }: Done): boolean =>
  step.step === "attempted" && (step.decision.disables !== null || step.decision.isRecovery);

async function recordNews(done: Done): Promise<void> {
  const { delivery, step } = done;
  if (step.step !== "attempted") return;
  try {
    await db().$transaction(async (tx) => {
      await recordClaimed([done], (text, values) => tx.$queryRawUnsafe(text, ...values));
      const { disables, isRecovery } = step.decision;
      if (disables) await disableWebhook(tx, delivery.webhookId, disables, step.attempt);
      if (isRecovery) await tellRecovery(tx, delivery.webhookId);
    });
  } catch (error) {
    if (!isClaimLost(error)) throw error;
  }
}
