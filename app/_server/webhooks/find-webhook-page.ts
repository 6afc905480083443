import { cache } from "react";
import { may } from "#core/access/may.ts";
import { findWebhook } from "#core/webhooks/manage/find-webhook.ts";
import { type Webhook, webhookNamespace } from "#core/webhooks/manage/webhook.ts";
import { orNotFound } from "../or-not-found.ts";
import { findOwnerPlace, type OwnerPlace } from "../owner-place.ts";
import type { OwnerName } from "../paths.ts";

/** Whose webhooks a page or a form is about, and who looks at them. */
export function findWebhookPlace(home: OwnerName): Promise<OwnerPlace> {
  return findOwnerPlace(home, "webhooks", (person, id) =>
    may(person, "webhook.read", webhookNamespace({ kind: "organization", id })),
  );
}

export type WebhookPage = OwnerPlace & Readonly<{ webhook: Webhook; isManager: boolean }>;

/**
 * The webhook of an address and who looks at it, read once a request. The page does not exist for an unknown or another's webhook (S136),
 * nor under an owner who does not own the webhook.
 */
export const findWebhookPage = cache(async (home: OwnerName, webhookId: string): Promise<WebhookPage> => {
  const place = await findWebhookPlace(home);
  const webhook = await orNotFound(findWebhook(place.person, webhookId, { of: place.owner.id }));
  return { ...place, webhook, isManager: await may(place.person, "webhook.manage", webhookNamespace(webhook.owner)) };
});
