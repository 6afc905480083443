import { createRoute, z } from "@hono/zod-openapi";
import { EVENT_STREAM_HEADERS, streamActivity } from "#core/webhooks/activity/stream-activity.ts";
import { askedAnew } from "../../../bearer.ts";
import { openApiRoutes, withToken } from "../../open-api.ts";
import { callerAndOf, webhookAddresses, webhookParams } from "../webhook-address.ts";

/** The live tail of a webhook's activity. */
export const liveActivityRoutes = openApiRoutes();

for (const { base, of } of webhookAddresses) {
  const route = createRoute({
    method: "get",
    path: `${base}/{id}/deliveries/live`,
    summary: `Follow the deliveries of a webhook ${of}`,
    description:
      "Server-sent events: `delivery` with a delivery as the list has it, each time that something becomes of it; `reset` when more happened than is told, so that the list is to be read again; a comment every 15 seconds. `Last-Event-ID`, or `tail` of a page of the list, goes on from there. It ends when the webhook may not be read any more.",
    security: withToken,
    request: { params: webhookParams, query: z.object({ tail: z.string().optional() }) },
    responses: { 200: { description: "Events", content: { "text/event-stream": { schema: z.string() } } } },
  });
  liveActivityRoutes.openapi(route, async (c) => {
    const { id, name } = c.req.valid("param");
    // Looked up anew while it lasts: a token ends, and its access changes.
    const actorNow = askedAnew(c, async () => (await callerAndOf(c, name)).actor);
    const { of: ownerId } = await callerAndOf(c, name);
    const after = c.req.header("Last-Event-ID") ?? c.req.valid("query").tail;
    const events = await streamActivity({ actorNow, webhookId: id, ownerId, after, signal: c.req.raw.signal });
    return c.body(events, 200, EVENT_STREAM_HEADERS);
  });
}
