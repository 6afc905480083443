import type { DeliveryDetailJson } from "@keyhook/sdk";
import { deliveryJson } from "./delivery.ts";
import type { DeliveryDetail } from "./read-delivery.ts";

export function deliveryDetailJson({
  body,
  bodyMissing,
  attemptLog,
  olderAttempts,
  canReplay,
  ...delivery
}: DeliveryDetail): DeliveryDetailJson {
  return {
    ...deliveryJson(delivery),
    ...{ body, bodyMissing, olderAttempts, canReplay },
    attemptLog: attemptLog.map(({ startedAt, nextDueAt, ...attempt }) => ({
      ...attempt,
      startedAt: startedAt.toISOString(),
      nextDueAt: nextDueAt?.toISOString() ?? null,
    })),
  };
}
