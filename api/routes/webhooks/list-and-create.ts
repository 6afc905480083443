import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema, newWebhookSchema, webhookSchema } from "@keyhook/sdk";
import { createWebhook } from "#core/webhooks/manage/create-webhook.ts";
import { listWebhooks } from "#core/webhooks/manage/list-webhooks.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { callerAndOwner, ownerParams, webhookAddresses } from "./webhook-address.ts";
import { webhookJson } from "./webhook-json.ts";

export const listAndCreateWebhooksRoutes = openApiRoutes();

for (const { base, of } of webhookAddresses) {
  const list = createRoute({
    method: "get",
    path: base,
    summary: `List webhooks ${of}`,
    description: "All of them, the oldest first. Takes the scope webhooks.",
    security: withToken,
    request: { params: ownerParams },
    responses: { 200: { description: "The webhooks", content: { "application/json": { schema: z.array(webhookSchema) } } } },
  });
  listAndCreateWebhooksRoutes.openapi(list, async (c) => {
    const { actor, owner } = await callerAndOwner(c, c.req.valid("param").name);
    return c.json(
      (await listWebhooks(actor, owner)).map((webhook) => webhookJson(webhook, actor)),
      200,
      { "Cache-Control": "no-store" },
    );
  });

  const create = createRoute({
    method: "post",
    path: base,
    summary: `Create a webhook ${of}`,
    description:
      "With one of `url`, `job` and `jobSourceId` (also written `job_id`). Without `domains` it has all of them. Setting a job takes the scope jobs as well.",
    security: withToken,
    request: { params: ownerParams, body: { required: true, content: { "application/json": { schema: newWebhookSchema } } } },
    responses: {
      200: {
        description: "The webhook; with `generateSecret` its secret too, which is never shown again",
        content: { "application/json": { schema: z.object({ webhook: webhookSchema, secret: z.string().optional() }) } },
      },
      409: { description: "There are as many as there may be", content: { "application/json": { schema: errorBodySchema } } },
    },
  });
  listAndCreateWebhooksRoutes.openapi(create, async (c) => {
    const { actor, owner } = await callerAndOwner(c, c.req.valid("param").name);
    const { job_id, jobSourceId, secret, generateSecret, ...input } = c.req.valid("json");
    const made = await createWebhook(
      actor,
      owner,
      { ...input, jobSourceId: jobSourceId ?? job_id, secret: generateSecret ? { generate: true } : secret },
      requestOriginOf(c),
    );
    return c.json({ webhook: webhookJson(made.webhook, actor), ...(made.secret !== null && { secret: made.secret }) }, 200, {
      "Cache-Control": "no-store",
    });
  });
}
