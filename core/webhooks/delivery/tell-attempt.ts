import { attemptsSeen } from "../../telemetry.ts";
import type { Attempt } from "./attempt.ts";
import type { ClaimedDelivery } from "./delivery.ts";

/** Publishes telemetry about an attempt. */
export function tellAttempt({ id, webhookId, kind, event, webhook }: ClaimedDelivery, attempt: Attempt): void {
  if (!attemptsSeen.hasSubscribers) return;
  const { outcome, answer, startedAt, totalMs } = attempt;
  attemptsSeen.publish({
    deliveryId: id,
    webhookId,
    eventId: event?.id ?? "",
    kind,
    outcome,
    status: answer?.status ?? null,
    isJob: webhook?.url === null,
    startedAt,
    milliseconds: totalMs,
    timings: answer?.timings ?? null,
    traceparent: event?.traceparent ?? null,
  });
}
