import { z } from "@hono/zod-openapi";
import { JOB_TIMEOUT_SECONDS, newWebhookSchema, type WebhookRecord, webhookChangesSchema, webhookSchema } from "@keyhook/sdk";
import type { Actor, TokenHolder } from "#core/access/actor.ts";
import { createdByJson } from "#core/access/delegation.ts";
import { avatarUrl } from "#core/accounts/avatar.ts";
import { createWebhook } from "#core/webhooks/manage/create-webhook.ts";
import { deleteWebhook } from "#core/webhooks/manage/delete-webhook.ts";
import { disableWebhook, enableWebhook } from "#core/webhooks/manage/enable-webhook.ts";
import { findWebhook, listWebhooks, ownWebhooksOf } from "#core/webhooks/manage/find-webhook.ts";
import { rotateWebhookSecret } from "#core/webhooks/manage/rotate-webhook-secret.ts";
import { updateWebhook } from "#core/webhooks/manage/update-webhook.ts";
import type { WatchedItem, Webhook, WebhookJob, WebhookOwner } from "#core/webhooks/manage/webhook.ts";
import { defineRoute, failure, json } from "../../define-route.ts";
import { findPublicOwner } from "../people.ts";

const oneWebhook = z.object({ webhook: webhookSchema });
const currentWebhook = { 200: json("The webhook", oneWebhook) };

export const webhookRoutes = [
  defineRoute("GET {WEBHOOKS}", {
    operationId: "listWebhooks",
    action: "webhook.read",
    actor: "user",
    summary: "List webhooks {whose}",
    description: "All webhooks, oldest first. Requires the scope `webhooks`.",
    responses: { 200: json("The webhooks", z.array(webhookSchema)) },
    async handle({ actor, params }) {
      const webhooks = await listWebhooks(actor, await ownerOf(actor, params.name));
      return webhooks.map((webhook) => webhookJson(webhook, actor));
    },
  }),

  defineRoute("POST {WEBHOOKS}", {
    operationId: "createWebhook",
    action: "webhook.manage",
    actor: "user",
    summary: "Create a webhook {forWhom}",
    description:
      "The body has exactly one of `url`, `job` and `jobSourceId` (or its synonym `job_id`). Without `domains`, the webhook has all domains; with `events`, it receives only these kinds of events. Setting a job also requires the scope jobs.",
    body: newWebhookSchema,
    responses: {
      200: json(
        "The webhook. With `generateSecret`, also its secret, which is never shown again",
        oneWebhook.extend({ secret: z.string().optional() }),
      ),
      409: failure("The owner already has the maximum number of webhooks"),
    },
    async handle({ actor, params, body, origin }) {
      const owner = await ownerOf(actor, params.name);
      const { job_id, jobSourceId, secret, generateSecret, ...input } = body;
      const all = {
        ...input,
        jobSourceId: jobSourceId ?? job_id,
        secret: generateSecret ? ({ generate: true } as const) : secret,
      };
      const made = await createWebhook(actor, owner, all, origin);
      return { webhook: webhookJson(made.webhook, actor), ...(made.secret !== null && { secret: made.secret }) };
    },
  }),

  defineRoute("GET {WEBHOOKS}/{id}", {
    operationId: "getWebhook",
    action: "webhook.read",
    actor: "user",
    summary: "Get a webhook {whose}",
    responses: currentWebhook,
    async handle({ actor, params }) {
      return { webhook: webhookJson(await findWebhook(actor, params.id, { of: await requiredOwner(params) }), actor) };
    },
  }),

  defineRoute("POST {WEBHOOKS}/{id}", {
    operationId: "updateWebhook",
    action: "webhook.manage",
    actor: "user",
    summary: "Update a webhook {whose}",
    description:
      "Fields that are absent, null or an empty list stay unchanged. An empty string removes the secret or the name. `domains` without `events` means all events of these domains. If a webhook with a secret gets a target " +
      "with another scheme, host, port, relay or job (for an app: any other URL), the request must contain the current secret, a new one, or an empty string for none.",
    body: webhookChangesSchema,
    responses: currentWebhook,
    async handle({ actor, params, body: { job_id, jobSourceId, ...changes }, origin }) {
      const owner = await requiredOwner(params);
      const all = { ...changes, jobSourceId: jobSourceId ?? job_id };
      return { webhook: webhookJson(await updateWebhook(actor, params.id, all, origin, owner), actor) };
    },
  }),

  defineRoute("POST {WEBHOOKS}/{id}/enable", {
    operationId: "enableWebhook",
    action: "webhook.manage",
    actor: "user",
    summary: "Enable a webhook {whose} and send its waiting deliveries",
    responses: currentWebhook,
    async handle({ actor, params, origin }) {
      return { webhook: webhookJson(await enableWebhook(actor, params.id, origin, await requiredOwner(params)), actor) };
    },
  }),

  defineRoute("POST {WEBHOOKS}/{id}/disable", {
    operationId: "disableWebhook",
    action: "webhook.manage",
    actor: "user",
    summary: "Disable a webhook {whose} without deleting it",
    responses: currentWebhook,
    async handle({ actor, params, origin }) {
      return { webhook: webhookJson(await disableWebhook(actor, params.id, origin, await requiredOwner(params)), actor) };
    },
  }),

  defineRoute("POST {WEBHOOKS}/{id}/rotate-secret", {
    operationId: "rotateWebhookSecret",
    action: "webhook.manage",
    actor: "user",
    summary: "Create a new secret for a webhook {whose}; for 24 hours, requests to a URL are signed with both secrets",
    responses: {
      200: json("The webhook and its secret, which is never shown again", oneWebhook.extend({ secret: z.string() })),
    },
    async handle({ actor, params, origin }) {
      const { webhook, secret } = await rotateWebhookSecret(actor, params.id, origin, await requiredOwner(params));
      return { webhook: webhookJson(webhook, actor), secret };
    },
  }),

  defineRoute("DELETE {WEBHOOKS}/{id}", {
    operationId: "deleteWebhook",
    action: "webhook.manage",
    actor: "user",
    summary: "Delete a webhook {whose}",
    responses: { 200: json("Deleted", z.object({})) },
    async handle({ actor, params, origin }) {
      await deleteWebhook(actor, params.id, origin, await requiredOwner(params));
      return {};
    },
  }),
];

async function ownerOf(actor: TokenHolder, name: string | undefined): Promise<WebhookOwner> {
  if (name === undefined) return ownWebhooksOf(actor);
  return { kind: "organization", id: (await findPublicOwner(name, "organization")).id };
}

/** Without an owner in the URL, the webhook's ID alone decides, because existing clients know only such URLs. */
export async function requiredOwner({ name }: { name?: string }): Promise<string | undefined> {
  return name === undefined ? undefined : (await findPublicOwner(name, "organization")).id;
}

function webhookJson(webhook: Webhook, reader: Actor): WebhookRecord {
  const { id, owner, name, url, job, jobSourceId, watched, domains, events, hasSecret, disabledAt, disabledReason } = webhook;
  const isSuspended = disabledReason === "failing" || disabledReason === "gone";
  return {
    id,
    ...(name !== null && { name }),
    ...(url !== null && { url }),
    ...(job && { job: jobJson(job) }),
    ...(jobSourceId !== null && { jobSourceId }),
    disabled: disabledAt !== null && isSuspended ? "suspended-after-failure" : disabledAt !== null,
    status: disabledAt === null ? "enabled" : "disabled",
    watched: watched.map(watchedJson),
    domains,
    ...(events.length > 0 && { events }),
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

function jobJson({ secretNames, timeoutSeconds, space: _, ...spec }: WebhookJob): NonNullable<WebhookRecord["job"]> {
  return { ...spec, secrets: secretNames, timeoutSeconds: timeoutSeconds ?? JOB_TIMEOUT_SECONDS };
}
