import { z } from "@hono/zod-openapi";
import { openedRelaySchema, relayAnswerSchema, relayRecordSchema } from "@keyhook/sdk";
import { invalidRequest } from "#core/errors.ts";
import { closeRelay } from "#core/relay/close-relay.ts";
import { answerRequest } from "#core/relay/inbox/answer-request.ts";
import { CONCURRENCY_MAX, streamRequests } from "#core/relay/listen/stream-requests.ts";
import { findRelay, listRelays, openRelay } from "#core/relay/open-relay.ts";
import type { Relay } from "#core/relay/relay.ts";
import { EVENT_STREAM_HEADERS } from "#core/webhooks/activity/stream-activity.ts";
import { findStaleWebhooks, refreshRelayed } from "#core/webhooks/relayed.ts";
import { defineRoute, events, failure, json } from "../define-route.ts";

const params = { name: z.string().openapi({ description: "The relay's name: lower-case letters, digits, `.`, `-` and `_`." }) };

/** Public URLs for receivers that have none (docs/decisions/063-the-relay.md). */
export const relayRoutes = [
  defineRoute("GET /api/settings/relays", {
    operationId: "listRelays",
    action: "relay.read",
    actor: "user",
    summary: "List your relays",
    description: "Requires the scope `webhooks`.",
    responses: { 200: json("The relays, by name; for an app, only those that it opened", z.array(relayRecordSchema)) },
    handle: async ({ actor, account }) => (await listRelays(actor, account.id)).map(relayJson),
  }),

  defineRoute("PUT /api/settings/relays/{name}", {
    operationId: "openRelay",
    action: "relay.manage",
    actor: "user",
    summary: "Open a relay, or renew it",
    description:
      "A relay keeps its URL if it is renewed within 72 hours. If it is renewed later, it gets a new URL, and `staleWebhooks` lists your webhooks that still use the old one.",
    params,
    responses: { 200: json("The relay", openedRelaySchema), 409: failure("The user already has the maximum number of relays") },
    async handle({ actor, account, params, origin }) {
      const { relay, previousUrl } = await openRelay(actor, account.id, params.name, origin);
      if (previousUrl === null) return { relay: relayJson(relay) };
      return { relay: relayJson(relay), previousUrl, staleWebhooks: await findStaleWebhooks(actor, account.id, previousUrl) };
    },
  }),

  defineRoute("GET /api/settings/relays/{name}", {
    operationId: "getRelay",
    action: "relay.read",
    actor: "user",
    summary: "Get a relay",
    params,
    responses: { 200: json("The relay", z.object({ relay: relayRecordSchema })) },
    async handle({ actor, account, params }) {
      return { relay: relayJson(await findRelay(actor, account.id, params.name)) };
    },
  }),

  defineRoute("DELETE /api/settings/relays/{name}", {
    operationId: "closeRelay",
    action: "relay.manage",
    actor: "user",
    summary: "Close a relay and its URL",
    params,
    responses: { 200: json("Closed", z.object({})) },
    async handle({ actor, account, params, origin }) {
      await closeRelay(actor, account.id, params.name, origin);
      return {};
    },
  }),

  defineRoute("GET /api/settings/relays/{name}/requests", {
    operationId: "listenToRelay",
    action: "relay.manage",
    actor: "user",
    summary: "Listen to a relay",
    description:
      "Server-sent events: `listening` immediately, `request` with `{id, method, path, headers, bodyBase64, receivedAt, isFromInbox}`, to be answered at `…/requests/{id}/answer`; `replaced` when another listener takes over; a comment every few seconds. A listener that reconnects with the same `listener` gets its unanswered requests again.",
    params,
    query: z
      .object({
        listener: z
          .string()
          .optional()
          .openapi({ description: "A name for this listener. Send the same name each time it connects." }),
        concurrency: z.coerce
          .number()
          .optional()
          .openapi({
            description: `The maximum number of unanswered requests that the listener accepts, up to ${CONCURRENCY_MAX}.`,
          }),
      })
      .refine(({ listener = "default" }) => /^[A-Za-z0-9_-]{1,64}$/.test(listener), {
        path: ["listener"],
        error: "at most 64 letters, digits, dashes and underscores",
      })
      .refine(({ concurrency: count = 1 }) => Number.isInteger(count) && count >= 1 && count <= CONCURRENCY_MAX, {
        path: ["concurrency"],
        error: `a whole number from 1 to ${CONCURRENCY_MAX}`,
      }),
    responses: { 200: events("Events") },
    async handle({ c, account, actorNow, params, query: { listener = crypto.randomUUID(), concurrency = 16 } }) {
      const stream = await streamRequests({
        actorNow,
        userId: account.id,
        name: params.name,
        listenerId: listener,
        concurrency,
        signal: c.req.raw.signal,
        refresh: refreshRelayed,
      });
      return c.body(stream, 200, EVENT_STREAM_HEADERS);
    },
  }),

  defineRoute("POST /api/settings/relays/{name}/requests/{id}/answer", {
    operationId: "answerRelayedRequest",
    action: "relay.manage",
    actor: "user",
    summary: "Respond to a request that a relay passed on",
    params: { ...params, id: z.string() },
    body: relayAnswerSchema,
    // A response of up to 8 MiB, as base64.
    maxBodyBytes: 12 * 1024 * 1024,
    responses: {
      200: json("The response is recorded", z.object({})),
      404: failure("The request belongs to another user, or was already answered or abandoned"),
    },
    async handle({ actor, account, params: { name, id }, body: { status, headers, bodyBase64 } }) {
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(bodyBase64)) throw invalidRequest("bodyBase64: is not base64.", "bodyBase64");
      const body = Buffer.from(bodyBase64, "base64");
      await answerRequest(actor, { userId: account.id, name, requestId: id }, { status, headers, body });
      return {};
    },
  }),
];

const relayJson = ({ createdAt, expiresAt, ...rest }: Relay) => ({
  ...rest,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});
