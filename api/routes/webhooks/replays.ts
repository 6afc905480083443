import { z } from "@hono/zod-openapi";
import { replayAnswerSchema, testBodySchema, webhookReplaySchema } from "@keyhook/sdk";
import { invalidRequest, ServiceError } from "#core/errors.ts";
import { replayDelivery, type Sent } from "#core/webhooks/replay/replay-delivery.ts";
import { sendTest } from "#core/webhooks/replay/send-test.ts";
import { cancelReplay, listReplays, readReplay, startReplay } from "#core/webhooks/replay/start-replay.ts";
import { replayJson, SELECTED_MAX } from "#core/webhooks/replay/webhook-replay.ts";
import { defineRoute, failure, json } from "../../define-route.ts";
import { listOf } from "../../refuse-bad-input.ts";
import { requiredOwner } from "./webhooks.ts";

const replaySchema = z.object({
  deliveries: listOf(z.string(), { max: SELECTED_MAX, of: "deliveries", code: "invalid_request" }).optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
});
const answered = {
  200: json(
    "How the attempt ended. `status` is the HTTP status of the target's response, or null without a response",
    replayAnswerSchema,
  ),
  503: failure(
    "Not sent within 20 seconds. The delivery stays in the queue. Read it to see the outcome: a repeated request could send it again",
  ),
};
const oneReplay = { 200: json("The replay", z.object({ replay: webhookReplaySchema })) };

export const replayRoutes = [
  defineRoute("POST {WEBHOOKS}/{id}/replay/{logId}", {
    operationId: "replayWebhookDelivery",
    action: "webhook.manage",
    actor: "user",
    summary: "Replay a delivery of a webhook {whose}",
    description:
      "The delivery keeps its body and `webhook-id`, and goes to the webhook's current target; a request to a URL is signed with the current secret. A waiting delivery is sent immediately.",
    params: { logId: z.string().openapi({ description: "The delivery's ID." }) },
    responses: {
      ...answered,
      409: failure("The webhook is disabled"),
      410: failure("The delivery's body is no longer stored"),
    },
    async handle({ c, actor, params, origin }) {
      const how = { ownerId: await requiredOwner(params), signal: c.req.raw.signal };
      return answerOf(await replayDelivery(actor, params.id, params.logId, origin, how));
    },
  }),

  defineRoute("POST {WEBHOOKS}/{id}/test", {
    operationId: "sendWebhookTest",
    action: "webhook.manage",
    actor: "user",
    summary: "Send a test to a webhook {whose}",
    description:
      "A sample event of the requested `kind`, with the header `X-Webhook-Test: true` if it goes to a URL. The service makes one attempt, which does not count toward the limit. Disabled webhooks can be tested too.",
    body: testBodySchema,
    isBodyOptional: true,
    responses: answered,
    async handle({ c, actor, params, body: { kind }, origin }) {
      const how = { ownerId: await requiredOwner(params), signal: c.req.raw.signal };
      return answerOf(await sendTest(actor, params.id, kind, origin, how));
    },
  }),

  defineRoute("POST {WEBHOOKS}/{id}/replays", {
    operationId: "startWebhookReplay",
    action: "webhook.manage",
    actor: "user",
    summary: "Replay many deliveries of a webhook {whose}",
    description:
      "Send either `deliveries` with up to 1,000 IDs, or `since` (and `until`) for all failed deliveries that were created in that time. By the time you get the response, the replay has been recorded; read it to follow its progress.",
    body: replaySchema,
    responses: {
      ...oneReplay,
      409: failure("The webhook is disabled, or there is nothing to replay"),
      429: failure("Too many replays of this webhook are running"),
    },
    async handle({ actor, params, body, origin }) {
      const ownerId = await requiredOwner(params);
      return { replay: replayJson(await startReplay(actor, params.id, selectionOf(body), origin, { ownerId })) };
    },
  }),

  defineRoute("GET {WEBHOOKS}/{id}/replays", {
    operationId: "listWebhookReplays",
    action: "webhook.read",
    actor: "user",
    summary: "List the latest replays of a webhook {whose}",
    responses: { 200: json("The replays, at most 20, newest first", z.array(webhookReplaySchema)) },
    async handle({ actor, params }) {
      const replays = await listReplays(actor, params.id, { ownerId: await requiredOwner(params) });
      return replays.map(replayJson);
    },
  }),

  defineRoute("GET {WEBHOOKS}/{id}/replays/{replayId}", {
    operationId: "getWebhookReplay",
    action: "webhook.read",
    actor: "user",
    summary: "Get the progress of a replay of a webhook {whose}",
    responses: oneReplay,
    async handle({ actor, params }) {
      const ownerId = await requiredOwner(params);
      return { replay: replayJson(await readReplay(actor, params.id, params.replayId, { ownerId })) };
    },
  }),

  defineRoute("POST {WEBHOOKS}/{id}/replays/{replayId}/cancel", {
    operationId: "cancelWebhookReplay",
    action: "webhook.manage",
    actor: "user",
    summary: "Cancel a replay of a webhook {whose}, including its waiting deliveries",
    responses: oneReplay,
    async handle({ actor, params }) {
      const ownerId = await requiredOwner(params);
      return { replay: replayJson(await cancelReplay(actor, params.id, params.replayId, { ownerId })) };
    },
  }),
];

function selectionOf({ deliveries, since, until }: z.infer<typeof replaySchema>) {
  if ((deliveries === undefined) === (since === undefined)) {
    throw invalidRequest("Send either deliveries or since.", "deliveries");
  }
  if (deliveries) return { deliveryIds: deliveries };
  return { since: new Date(since as string), ...(until !== undefined && { until: new Date(until) }) };
}

function answerOf({ deliveryId, attempt }: Sent) {
  if (attempt) return { ...attempt, delivery: deliveryId };
  throw new ServiceError("unavailable", `Delivery ${deliveryId} was not sent in time. It stays in the queue and will be sent.`, {
    retryAfterSeconds: 30,
  });
}
