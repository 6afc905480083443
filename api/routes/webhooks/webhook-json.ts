import { JOB_TIMEOUT_SECONDS, type WebhookRecord } from "@keyhook/sdk";
import type { Actor } from "#core/access/actor.ts";
import { createdByJson } from "#core/access/delegation.ts";
import { avatarUrl } from "#core/accounts/avatar-url.ts";
import type { WatchedItem, Webhook, WebhookJob } from "#core/webhooks/manage/webhook.ts";

/** A webhook's record (docs/specification/webhooks.md#the-webhook-record). */
export function webhookJson(webhook: Webhook, reader: Actor): WebhookRecord {
  const { id, owner, url, job, jobSourceId, watched, domains, hasSecret, disabledAt, disabledReason } = webhook;
  const isSuspended = disabledReason === "failing" || disabledReason === "gone";
  return {
    id,
    ...(url !== null && { url }),
    ...(job && { job: jobJson(job) }),
    ...(jobSourceId !== null && { jobSourceId }),
    disabled: disabledAt !== null && isSuspended ? "suspended-after-failure" : disabledAt !== null,
    status: disabledAt === null ? "enabled" : "disabled",
    watched: watched.map(watchedJson),
    domains,
    hasSecret,
    ...(webhook.lastTriggeredAt && { lastTriggerAt: webhook.lastTriggeredAt.toISOString() }),
    owner: { id: owner.id, name: owner.handle, type: owner.kind === "organization" ? "org" : "user" },
    createdBy: createdByJson(webhook, reader),
    createdAt: webhook.createdAt.toISOString(),
    updatedAt: webhook.updatedAt.toISOString(),
  };
}

function watchedJson({ type, id, name }: WatchedItem): WebhookRecord["watched"][number] {
  if (name === null) return { type, name: id, unavailable: true };
  return { type, name, ...((type === "user" || type === "org") && { avatarUrl: avatarUrl(name) }) };
}

function jobJson({ secretNames, timeoutSeconds, ...spec }: WebhookJob): NonNullable<WebhookRecord["job"]> {
  return { ...spec, secrets: secretNames, timeoutSeconds: timeoutSeconds ?? JOB_TIMEOUT_SECONDS };
}
