import { notFound } from "next/navigation";
import { cache } from "react";
import { may } from "#core/access/may.ts";
import { isServiceError } from "#core/errors.ts";
import { findWebhook } from "#core/webhooks/manage/find-webhook.ts";
import { type Webhook, webhookNamespace } from "#core/webhooks/manage/webhook.ts";
import { findWebhookOwner, type WebhookPlace } from "./find-webhook-owner.ts";
import type { WebhookHome } from "./webhook-paths.ts";

export type WebhookPage = WebhookPlace & Readonly<{ webhook: Webhook; isManager: boolean }>;

/**
 * The webhook of an address and who looks at it, read once a request. One that is not there, or another's, is the page of unknown things
 * (S136); so is one under an owner whose it is not, since an address tells the truth.
 */
export const findWebhookPage = cache(async (home: WebhookHome, webhookId: string): Promise<WebhookPage> => {
  const place = await findWebhookOwner(home);
  try {
    const webhook = await findWebhook(place.person, webhookId, { of: place.owner.id });
    return { ...place, webhook, isManager: await may(place.person, "webhook.manage", webhookNamespace(webhook.owner)) };
  } catch (error) {
    if (isServiceError(error) && error.code === "not_found") notFound();
    throw error;
  }
});
