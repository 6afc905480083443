import { createRoute, z } from "@hono/zod-openapi";
import { chartRanges, deliveryDetailSchema, deliveryFilterSchema, deliveryPageSchema, webhookChartSchema } from "@keyhook/sdk";
import { deliveryJson } from "#core/webhooks/activity/delivery.ts";
import { deliveryDetailJson } from "#core/webhooks/activity/delivery-detail-json.ts";
import { listDeliveries } from "#core/webhooks/activity/list-deliveries.ts";
import { chartJson, readChart } from "#core/webhooks/activity/read-chart.ts";
import { readDelivery } from "#core/webhooks/activity/read-delivery.ts";
import { openApiRoutes, withToken } from "../../open-api.ts";
import { callerAndOf, webhookAddresses, webhookParams } from "../webhook-address.ts";

const noStore = { "Cache-Control": "no-store" };
const security = withToken;

/** A webhook's activity: its deliveries, one of them with its attempts, its chart. */
export const deliveryRoutes = openApiRoutes();

for (const { base, of } of webhookAddresses) {
  const path = `${base}/{id}` as const;

  const list = createRoute({
    method: "get",
    path: `${path}/deliveries`,
    summary: `List the deliveries of a webhook ${of}`,
    description:
      "The newest first. `older` is the `cursor` of the next page. A filter looks at 5,000 deliveries at a time: where it ends before the page is full, `searchedBackTo` says how far it went.",
    security,
    request: { params: webhookParams, query: deliveryFilterSchema },
    responses: { 200: { description: "A page", content: { "application/json": { schema: deliveryPageSchema } } } },
  });
  deliveryRoutes.openapi(list, async (c) => {
    const { id, name } = c.req.valid("param");
    const { actor, of: ownerId } = await callerAndOf(c, name);
    const { deliveries, searchedBackTo, ...page } = await listDeliveries(actor, id, c.req.valid("query"), { ownerId });
    const answer = { ...page, deliveries: deliveries.map(deliveryJson), searchedBackTo: searchedBackTo?.toISOString() ?? null };
    return c.json(answer, 200, noStore);
  });

  const read = createRoute({
    method: "get",
    path: `${path}/deliveries/{deliveryId}`,
    summary: `Read a delivery of a webhook ${of}, with what was sent and each attempt`,
    description:
      "The latest twenty attempts; `olderAttempts` is the `attemptsBefore` of those before them. `Set-Cookie`, authorization values and the webhook's own secret are masked.",
    security,
    request: {
      params: webhookParams.extend({ deliveryId: z.string().openapi({ description: "24 hex digits: also its `webhook-id`." }) }),
      query: z.object({ attemptsBefore: z.string().optional() }),
    },
    responses: { 200: { description: "The delivery", content: { "application/json": { schema: deliveryDetailSchema } } } },
  });
  deliveryRoutes.openapi(read, async (c) => {
    const { id, name, deliveryId } = c.req.valid("param");
    const { actor, of: ownerId } = await callerAndOf(c, name);
    const { attemptsBefore } = c.req.valid("query");
    return c.json(deliveryDetailJson(await readDelivery(actor, id, deliveryId, { attemptsBefore, ownerId })), 200, noStore);
  });

  const chart = createRoute({
    method: "get",
    path: `${path}/chart`,
    summary: `Chart what a webhook ${of} did`,
    security,
    request: { params: webhookParams, query: z.object({ range: z.enum(chartRanges).default("24h") }) },
    responses: { 200: { description: "The chart", content: { "application/json": { schema: webhookChartSchema } } } },
  });
  deliveryRoutes.openapi(chart, async (c) => {
    const { id, name } = c.req.valid("param");
    const { actor, of: ownerId } = await callerAndOf(c, name);
    return c.json(chartJson(await readChart(actor, id, c.req.valid("query").range, { ownerId })), 200, noStore);
  });
}
