import { createRoute, z } from "@hono/zod-openapi";
import { webhookChangesSchema, webhookSchema } from "@keyhook/sdk";
import { deleteWebhook } from "#core/webhooks/manage/delete-webhook.ts";
import { disableWebhook } from "#core/webhooks/manage/disable-webhook.ts";
import { enableWebhook } from "#core/webhooks/manage/enable-webhook.ts";
import { findWebhook } from "#core/webhooks/manage/find-webhook.ts";
import { rotateWebhookSecret } from "#core/webhooks/manage/rotate-webhook-secret.ts";
import { updateWebhook } from "#core/webhooks/manage/update-webhook.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { callerAndOf, webhookAddresses, webhookParams } from "./webhook-address.ts";
import { webhookJson } from "./webhook-json.ts";

const schema = z.object({ webhook: webhookSchema });
const answer = { 200: { description: "As it is now", content: { "application/json": { schema } } } };
const security = withToken;
const noStore = { "Cache-Control": "no-store" };

export const oneWebhookRoutes = openApiRoutes();

for (const { base, of } of webhookAddresses) {
  const path = `${base}/{id}` as const;
  const request = { params: webhookParams };

  const read = createRoute({ method: "get", path, summary: `Read a webhook ${of}`, security, request, responses: answer });
  oneWebhookRoutes.openapi(read, async (c) => {
    const { id, name } = c.req.valid("param");
    const { actor, ...whose } = await callerAndOf(c, name);
    return c.json({ webhook: webhookJson(await findWebhook(actor, id, whose), actor) }, 200, noStore);
  });

  const update = createRoute({
    method: "post",
    path,
    summary: `Change a webhook ${of}`,
    description:
      "What is absent, null or an empty list stays as it is. An empty secret takes the secret away. A webhook that has a secret needs it " +
      "again, or another one, when its target becomes another host, port, relay or job.",
    security,
    request: { ...request, body: { required: true, content: { "application/json": { schema: webhookChangesSchema } } } },
    responses: answer,
  });
  oneWebhookRoutes.openapi(update, async (c) => {
    const { id, name } = c.req.valid("param");
    const { actor, of: whose } = await callerAndOf(c, name);
    const { job_id, jobSourceId, ...changes } = c.req.valid("json");
    const all = { ...changes, jobSourceId: jobSourceId ?? job_id };
    return c.json({ webhook: webhookJson(await updateWebhook(actor, id, all, requestOriginOf(c), whose), actor) }, 200, noStore);
  });

  for (const [action, operation, summary] of [
    ["enable", enableWebhook, `Enable a webhook ${of}; what was held is sent`],
    ["disable", disableWebhook, `Disable a webhook ${of}; it is kept`],
  ] as const) {
    const turn = createRoute({ method: "post", path: `${path}/${action}`, summary, security, request, responses: answer });
    oneWebhookRoutes.openapi(turn, async (c) => {
      const { id, name } = c.req.valid("param");
      const { actor, of: whose } = await callerAndOf(c, name);
      return c.json({ webhook: webhookJson(await operation(actor, id, requestOriginOf(c), whose), actor) }, 200, noStore);
    });
  }

  const rotate = createRoute({
    method: "post",
    path: `${path}/rotate-secret`,
    summary: `Give a webhook ${of} a new secret; the one before signs beside it for 24 hours`,
    security,
    request,
    responses: {
      200: {
        description: "The webhook and its secret, which is never shown again",
        content: { "application/json": { schema: schema.extend({ secret: z.string() }) } },
      },
    },
  });
  oneWebhookRoutes.openapi(rotate, async (c) => {
    const { id, name } = c.req.valid("param");
    const { actor, of: whose } = await callerAndOf(c, name);
    const { webhook, secret } = await rotateWebhookSecret(actor, id, requestOriginOf(c), whose);
    return c.json({ webhook: webhookJson(webhook, actor), secret }, 200, noStore);
  });

  const remove = createRoute({
    method: "delete",
    path,
    summary: `Delete a webhook ${of}`,
    security,
    request,
    responses: { 200: { description: "It is gone", content: { "application/json": { schema: z.object({}) } } } },
  });
  oneWebhookRoutes.openapi(remove, async (c) => {
    const { id, name } = c.req.valid("param");
    const { actor, of: whose } = await callerAndOf(c, name);
    await deleteWebhook(actor, id, requestOriginOf(c), whose);
    return c.json({}, 200, noStore);
  });
}
