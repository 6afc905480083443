import { z } from "@hono/zod-openapi";
import { chartRanges, deliveryDetailSchema, deliveryFilterSchema, deliveryPageSchema, webhookChartSchema } from "@keyhook/sdk";
import { deliveryJson } from "#core/webhooks/activity/delivery.ts";
import { listDeliveries } from "#core/webhooks/activity/list-deliveries.ts";
import { chartJson, readChart } from "#core/webhooks/activity/read-chart.ts";
import { deliveryDetailJson, readDelivery } from "#core/webhooks/activity/read-delivery.ts";
import { EVENT_STREAM_HEADERS, streamActivity } from "#core/webhooks/activity/stream-activity.ts";
import { defineRoute, events, json } from "../../define-route.ts";
import { requiredOwner } from "./webhooks.ts";

export const activityRoutes = [
  // This route comes before `{deliveryId}`, which would also match the URL.
  defineRoute("GET {WEBHOOKS}/{id}/deliveries/live", {
    operationId: "followWebhookDeliveries",
    action: "webhook.read",
    actor: "user",
    summary: "Follow the deliveries of a webhook {whose}",
    description:
      "Server-sent events: `delivery` with a delivery as in the list, at each change of its state; `reset` when there were more changes than the stream sends, so the client must read the list again; a comment every 15 seconds. The stream continues from `Last-Event-ID`, or from `tail` of a page of the list. It ends when the caller may no longer read the webhook.",
    query: z.object({ tail: z.string().optional() }),
    responses: { 200: events("Events") },
    async handle({ c, actorNow, params, query: { tail } }) {
      const ownerId = await requiredOwner(params);
      const after = c.req.header("Last-Event-ID") ?? tail;
      const stream = await streamActivity({ actorNow, webhookId: params.id, ownerId, after, signal: c.req.raw.signal });
      return c.body(stream, 200, EVENT_STREAM_HEADERS);
    },
  }),

  defineRoute("GET {WEBHOOKS}/{id}/deliveries", {
    operationId: "listWebhookDeliveries",
    action: "webhook.read",
    actor: "user",
    summary: "List the deliveries of a webhook {whose}",
    description:
      "Newest first. `older` is the `cursor` of the next page. With a filter, one request searches 5,000 deliveries. If it reaches that limit before the page is full, `searchedBackTo` gives the time to which it searched.",
    query: deliveryFilterSchema,
    responses: { 200: json("A page of deliveries", deliveryPageSchema) },
    async handle({ actor, params, query }) {
      const ownerId = await requiredOwner(params);
      const { deliveries, searchedBackTo, ...page } = await listDeliveries(actor, params.id, query, { ownerId });
      return { ...page, deliveries: deliveries.map(deliveryJson), searchedBackTo: searchedBackTo?.toISOString() ?? null };
    },
  }),

  defineRoute("GET {WEBHOOKS}/{id}/deliveries/{deliveryId}", {
    operationId: "getWebhookDelivery",
    action: "webhook.read",
    actor: "user",
    summary: "Get a delivery of a webhook {whose}, with its body and attempts",
    description:
      "The response has the latest twenty attempts; `olderAttempts` is the `attemptsBefore` for earlier ones. `Set-Cookie`, authorization values and the webhook's own secret are masked.",
    params: {
      deliveryId: z.string().openapi({ description: "The delivery's ID, 24 hex digits; also its `webhook-id` header." }),
    },
    query: z.object({ attemptsBefore: z.string().optional() }),
    responses: { 200: json("The delivery", deliveryDetailSchema) },
    async handle({ actor, params, query: { attemptsBefore } }) {
      const ownerId = await requiredOwner(params);
      return deliveryDetailJson(await readDelivery(actor, params.id, params.deliveryId, { attemptsBefore, ownerId }));
    },
  }),

  defineRoute("GET {WEBHOOKS}/{id}/chart", {
    operationId: "getWebhookChart",
    action: "webhook.read",
    actor: "user",
    summary: "Chart the attempts of a webhook {whose}",
    query: z.object({ range: z.enum(chartRanges).default("24h") }),
    responses: { 200: json("The chart", webhookChartSchema) },
    async handle({ actor, params, query: { range } }) {
      return chartJson(await readChart(actor, params.id, range, { ownerId: await requiredOwner(params) }));
    },
  }),
];
