import { cache } from "react";
import { may } from "#core/access/may.ts";
import { findWebhook } from "#core/webhooks/manage/find-webhook.ts";
import { type Webhook, webhookNamespace } from "#core/webhooks/manage/webhook.ts";
import { orNotFound } from "../or-not-found.ts";
import { findOwnerPage, type OwnerPage } from "../owner-page.ts";
import type { OwnerName } from "../paths.ts";

export function findWebhooksPage(home: OwnerName): Promise<OwnerPage> {
  return findOwnerPage(home, "webhooks", (person, id) =>
    may(person, "webhook.read", webhookNamespace({ kind: "organization", id })),
  );
}

export type WebhookPage = OwnerPage & Readonly<{ webhook: Webhook; isManager: boolean }>;

/** 404 for a webhook that is missing, hidden from the user (S136), or not of the owner in the URL. */
export const findWebhookPage = cache(async (home: OwnerName, webhookId: string): Promise<WebhookPage> => {
  const context = await findWebhooksPage(home);
  const webhook = await orNotFound(findWebhook(context.person, webhookId, { of: context.owner.id }));
  return { ...context, webhook, isManager: await may(context.person, "webhook.manage", webhookNamespace(webhook.owner)) };
});
