import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema, replayAnswerSchema, testBodySchema, webhookReplaySchema } from "@keyhook/sdk";
import { ServiceError } from "#core/errors.ts";
import { cancelReplay } from "#core/webhooks/replay/cancel-replay.ts";
import { listReplays, readReplay } from "#core/webhooks/replay/read-replay.ts";
import { replayDelivery, type Sent } from "#core/webhooks/replay/replay-delivery.ts";
import { sendTest } from "#core/webhooks/replay/send-test.ts";
import { startReplay } from "#core/webhooks/replay/start-replay.ts";
import { replayJson, SELECTED_MAX } from "#core/webhooks/replay/webhook-replay.ts";
import { requestOriginOf } from "../../../request-origin.ts";
import { listOf, openApiRoutes, withToken } from "../../open-api.ts";
import { callerAndOf, webhookAddresses, webhookParams } from "../webhook-address.ts";

const noStore = { "Cache-Control": "no-store" };
const security = withToken;
const errors = (description: string) => ({ description, content: { "application/json": { schema: errorBodySchema } } });
const answered = {
  200: {
    description: "How the attempt ended: `status` is what the target answered, null where it did not",
    content: { "application/json": { schema: replayAnswerSchema } },
  },
  503: errors(
    "Not sent within 20 seconds. It stays in the queue: ask again after `Retry-After`, and the same attempt is waited for",
  ),
};
const oneReplay = {
  200: { description: "As it is now", content: { "application/json": { schema: z.object({ replay: webhookReplaySchema }) } } },
};

/** Replays, one or many, and tests. */
export const replayRoutes = openApiRoutes();

for (const { base, of } of webhookAddresses) {
  const path = `${base}/{id}` as const;

  const replay = createRoute({
    method: "post",
    path: `${path}/replay/{logId}`,
    summary: `Send a delivery of a webhook ${of} again`,
    description:
      "The same bytes under the same `webhook-id`, to where the webhook points now, signed with the secret it has now. One that waits is sent at once.",
    security,
    request: { params: webhookParams.extend({ logId: z.string().openapi({ description: "The delivery's id." }) }) },
    responses: {
      ...answered,
      409: errors("The webhook is disabled"),
      410: errors("What the delivery said is not kept any more"),
    },
  });
  replayRoutes.openapi(replay, async (c) => {
    const { id, name, logId } = c.req.valid("param");
    const { actor, of: ownerId } = await callerAndOf(c, name);
    const sent = await replayDelivery(actor, id, logId, requestOriginOf(c), { ownerId, signal: c.req.raw.signal });
    return c.json(answerOf(sent), 200, noStore);
  });

  const test = createRoute({
    method: "post",
    path: `${path}/test`,
    summary: `Send a test to a webhook ${of}`,
    description:
      "A made-up event of the `kind` that is asked for, with `X-Webhook-Test: true`: one attempt, which counts towards no limit and is made of a disabled webhook too.",
    security,
    request: { params: webhookParams, body: { content: { "application/json": { schema: testBodySchema } } } },
    responses: answered,
  });
  replayRoutes.openapi(test, async (c) => {
    const { id, name } = c.req.valid("param");
    const { actor, of: ownerId } = await callerAndOf(c, name);
    const { kind } = c.req.valid("json") ?? {};
    return c.json(
      answerOf(await sendTest(actor, id, kind, requestOriginOf(c), { ownerId, signal: c.req.raw.signal })),
      200,
      noStore,
    );
  });

  const create = createRoute({
    method: "post",
    path: `${path}/replays`,
    summary: `Send many deliveries of a webhook ${of} again`,
    description:
      "Either `deliveries`, up to 1,000 of them, or `since`: all that were made since then, and before `until`, and have failed. It is on record when this returns; read it to see how far it is.",
    security,
    request: {
      params: webhookParams,
      body: {
        required: true,
        content: {
          "application/json": {
            schema: z.object({
              deliveries: listOf(z.string(), { max: SELECTED_MAX, of: "deliveries", code: "invalid_request" }).optional(),
              since: z.iso.datetime({ offset: true }).optional(),
              until: z.iso.datetime({ offset: true }).optional(),
            }),
          },
        },
      },
    },
    responses: {
      ...oneReplay,
      409: errors("The webhook is disabled, or there is nothing to replay"),
      429: errors("Replays of this webhook are running"),
    },
  });
  replayRoutes.openapi(create, async (c) => {
    const { id, name } = c.req.valid("param");
    const { actor, of: ownerId } = await callerAndOf(c, name);
    const made = await startReplay(actor, id, whatOf(c.req.valid("json")), requestOriginOf(c), { ownerId });
    return c.json({ replay: replayJson(made) }, 200, noStore);
  });

  const list = createRoute({
    method: "get",
    path: `${path}/replays`,
    summary: `List the latest replays of a webhook ${of}`,
    security,
    request: { params: webhookParams },
    responses: {
      200: {
        description: "At most 20, the newest first",
        content: { "application/json": { schema: z.array(webhookReplaySchema) } },
      },
    },
  });
  replayRoutes.openapi(list, async (c) => {
    const { id, name } = c.req.valid("param");
    const { actor, of: ownerId } = await callerAndOf(c, name);
    return c.json((await listReplays(actor, id, { ownerId })).map(replayJson), 200, noStore);
  });

  const params = webhookParams.extend({ replayId: z.string() });
  for (const [method, suffix, operation, summary] of [
    ["get", "", readReplay, `Read how far a replay of a webhook ${of} is`],
    ["post", "/cancel", cancelReplay, `Cancel a replay of a webhook ${of}: what of it still waits is not sent`],
  ] as const) {
    const one = createRoute({
      method,
      path: `${path}/replays/{replayId}${suffix}`,
      summary,
      security,
      request: { params },
      responses: oneReplay,
    });
    replayRoutes.openapi(one, async (c) => {
      const { id, name, replayId } = c.req.valid("param");
      const { actor, of: ownerId } = await callerAndOf(c, name);
      return c.json({ replay: replayJson(await operation(actor, id, replayId, { ownerId })) }, 200, noStore);
    });
  }
}

function whatOf({
  deliveries,
  since,
  until,
}: {
  deliveries?: string[] | undefined;
  since?: string | undefined;
  until?: string | undefined;
}) {
  if ((deliveries === undefined) === (since === undefined)) {
    throw new ServiceError("invalid_request", "Give either deliveries or since.", { field: "deliveries" });
  }
  if (deliveries) return { deliveryIds: deliveries };
  return { since: new Date(since as string), ...(until !== undefined && { until: new Date(until) }) };
}

/** @throws ServiceError `unavailable` if it was not sent in time */
function answerOf({ deliveryId, attempt }: Sent) {
  if (attempt) return { ...attempt, delivery: deliveryId };
  throw new ServiceError("unavailable", `Delivery ${deliveryId} was not sent in time. It stays in the queue and will be.`, {
    retryAfterSeconds: 30,
  });
}
