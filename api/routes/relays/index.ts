import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema, openedRelaySchema, relayAnswerSchema, relayRecordSchema } from "@keyhook/sdk";
import { ServiceError } from "#core/errors.ts";
import { closeRelay } from "#core/relay/close-relay.ts";
import { answerRequest } from "#core/relay/inbox/answer-request.ts";
import { findRelay, listRelays } from "#core/relay/list-relays.ts";
import { CONCURRENCY_MAX, streamRequests } from "#core/relay/listen/stream-requests.ts";
import { openRelay } from "#core/relay/open-relay.ts";
import type { Relay } from "#core/relay/relay.ts";
import { EVENT_STREAM_HEADERS } from "#core/webhooks/activity/stream-activity.ts";
import { findStaleWebhooks } from "#core/webhooks/relayed/find-stale-webhooks.ts";
import { refreshRelayed } from "#core/webhooks/relayed/refresh-relayed.ts";
import { requirePersonsToken } from "../../actor.ts";
import { askedAnew } from "../../bearer.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";

const BASE = "/api/settings/relays";
const security = withToken;
const noStore = { "Cache-Control": "no-store" };
const params = z.object({ name: z.string().openapi({ description: "Lower-case letters, digits, `.`, `-` and `_`." }) });
const json = <T extends z.ZodType>(description: string, schema: T) => ({
  description,
  content: { "application/json": { schema } },
});

/** Relays: public URLs for receivers that have none (docs/decisions/063-the-relay.md). */
export const relayRoutes = openApiRoutes();

const list = createRoute({
  method: "get",
  path: BASE,
  summary: "List your relays",
  description: "Takes the scope webhooks.",
  security,
  responses: { 200: json("All of them, by name", z.array(relayRecordSchema)) },
});
relayRoutes.openapi(list, async (c) => {
  const { actor, account } = await requirePersonsToken(c);
  return c.json((await listRelays(actor, account.id)).map(relayJson), 200, noStore);
});

const open = createRoute({
  method: "put",
  path: `${BASE}/{name}`,
  summary: "Open a relay, or renew it",
  description:
    "Its address stays as long as it is renewed within 72 hours; then it gets another, and `staleWebhooks` are those of yours that still point to the one before.",
  security,
  request: { params },
  responses: { 200: json("The relay", openedRelaySchema), 409: json("There are as many as there may be", errorBodySchema) },
});
relayRoutes.openapi(open, async (c) => {
  const { actor, account } = await requirePersonsToken(c);
  const { relay, previousUrl } = await openRelay(actor, account.id, c.req.valid("param").name, requestOriginOf(c));
  const moved = previousUrl !== null && { previousUrl, staleWebhooks: await findStaleWebhooks(actor, account.id, previousUrl) };
  return c.json({ relay: relayJson(relay), ...moved }, 200, noStore);
});

const read = createRoute({
  method: "get",
  path: `${BASE}/{name}`,
  summary: "Read a relay",
  security,
  request: { params },
  responses: { 200: json("The relay", z.object({ relay: relayRecordSchema })) },
});
relayRoutes.openapi(read, async (c) => {
  const { actor, account } = await requirePersonsToken(c);
  return c.json({ relay: relayJson(await findRelay(actor, account.id, c.req.valid("param").name)) }, 200, noStore);
});

const close = createRoute({
  method: "delete",
  path: `${BASE}/{name}`,
  summary: "Close a relay: its address reaches nobody any more",
  security,
  request: { params },
  responses: { 200: json("It is closed", z.object({})) },
});
relayRoutes.openapi(close, async (c) => {
  const { actor, account } = await requirePersonsToken(c);
  await closeRelay(actor, account.id, c.req.valid("param").name, requestOriginOf(c));
  return c.json({}, 200, noStore);
});

const requests = createRoute({
  method: "get",
  path: `${BASE}/{name}/requests`,
  summary: "Listen to a relay",
  description:
    "Server-sent events: `listening` at once, `request` with `{id, method, path, headers, bodyBase64, receivedAt, isFromInbox}`, to be answered at `…/requests/{id}/answer`; `replaced` when another listener took over; a comment every few seconds. Whoever comes back with the same `listener` goes on with what it has not answered.",
  security,
  request: {
    params,
    query: z.object({
      listener: z.string().optional().openapi({ description: "Your own word for this listener, the same over its connections." }),
      concurrency: z.coerce
        .number()
        .optional()
        .openapi({ description: `Unanswered requests that it takes at once, up to ${CONCURRENCY_MAX}.` }),
    }),
  },
  responses: { 200: { description: "Events", content: { "text/event-stream": { schema: z.string() } } } },
});
relayRoutes.openapi(requests, async (c) => {
  const { name } = c.req.valid("param");
  const { listener = crypto.randomUUID(), concurrency = 16 } = c.req.valid("query");
  const refuse = (field: string, sentence: string) => new ServiceError("invalid_request", sentence, { field });
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(listener))
    throw refuse("listener", "listener: at most 64 letters, digits, dashes and underscores.");
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > CONCURRENCY_MAX) {
    throw refuse("concurrency", `concurrency: a whole number from 1 to ${CONCURRENCY_MAX}.`);
  }
  const { account } = await requirePersonsToken(c);
  const events = await streamRequests({
    // Looked up anew while it lasts: a token ends, and its access changes.
    actorNow: askedAnew(c, async () => (await requirePersonsToken(c)).actor),
    userId: account.id,
    name,
    listenerId: listener,
    concurrency,
    signal: c.req.raw.signal,
    refresh: refreshRelayed,
  });
  return c.body(events, 200, EVENT_STREAM_HEADERS);
});

const answer = createRoute({
  method: "post",
  path: `${BASE}/{name}/requests/{id}/answer`,
  summary: "Answer a request that a relay handed over",
  security,
  request: {
    params: params.extend({ id: z.string() }),
    body: { required: true, content: { "application/json": { schema: relayAnswerSchema } } },
  },
  responses: {
    200: json("It is on record", z.object({})),
    404: json("It is not yours, or was answered or given up", errorBodySchema),
  },
});
relayRoutes.openapi(answer, async (c) => {
  const { actor, account } = await requirePersonsToken(c);
  const { name, id } = c.req.valid("param");
  const { status, headers, bodyBase64 } = c.req.valid("json");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(bodyBase64)) {
    throw new ServiceError("invalid_request", "bodyBase64: this is not base64.", { field: "bodyBase64" });
  }
  const body = Buffer.from(bodyBase64, "base64");
  await answerRequest(actor, { userId: account.id, name, requestId: id }, { status, headers, body });
  return c.json({}, 200, noStore);
});

const relayJson = ({ createdAt, expiresAt, ...rest }: Relay) => ({
  ...rest,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});
