import { z } from "zod";
import {
  type ChartRange,
  type DeliveryFilter,
  type DeliveryJson,
  deliveryDetailSchema,
  deliveryPageSchema,
  deliverySchema,
  replayAnswerSchema,
  type TestKind,
  type WebhookReplayJson,
  webhookChartSchema,
  webhookReplaySchema,
} from "../webhook-activity.ts";
import { type newWebhookSchema, type WebhookRecord, type webhookChangesSchema, webhookSchema } from "../webhooks.ts";
import { part, settingsPath, type Whose } from "./addresses.ts";
import { unexpectedContent } from "./api-error.ts";
import { paged } from "./paged.ts";
import { reconnecting, sleep } from "./reconnecting.ts";
import type { Transport } from "./transport.ts";

/** A webhook to create. @group Client @useDeclaredType */
export type NewWebhook = z.input<typeof newWebhookSchema>;
/** Changes of a webhook. Absent fields keep their values. @group Client @useDeclaredType */
export type WebhookChanges = z.input<typeof webhookChangesSchema>;
/**
 * A change of a delivery, as it happens. `reset`: some changes were skipped, so read the list again. `tail` is the position from which to
 * continue.
 * @group Client
 */
export type LiveActivity = { kind: "delivery"; delivery: DeliveryJson; tail?: string } | { kind: "reset"; tail?: string };
/** The deliveries to replay: the named ones, or all that failed in a range of time. @group Client */
export type ReplayRange = { deliveries: string[] } | { since: Date | string; until?: Date | string | undefined };

const one = z.object({ webhook: webhookSchema });
const withSecret = one.extend({ secret: z.string().optional() });
const replayed = z.object({ replay: webhookReplaySchema });

/**
 * The operations of `client.webhooks`, on webhooks, their deliveries and replays.
 *
 * These are the caller's webhooks or, with `{ organization }`, that organization's. The token needs the scope `webhooks`.
 * @group Client @useDeclaredType
 */
export type WebhooksClient = ReturnType<typeof webhooksOf>;

export function webhooksOf({ request, stream }: Transport) {
  const at = (organization: string | undefined) => `${settingsPath(organization)}/webhooks`;
  const of = (id: string, organization: string | undefined, rest = "") => `${at(organization)}/${part(id)}${rest}`;

  async function readReplay(id: string, replayId: string, { organization, signal }: Whose = {}): Promise<WebhookReplayJson> {
    const path = of(id, organization, `/replays/${part(replayId)}`);
    return (await request("GET", path, { schema: replayed, signal })).replay;
  }

  async function startReplay(id: string, what: ReplayRange, { organization, signal }: Whose = {}): Promise<WebhookReplayJson> {
    const time = (at: Date | string) => (at instanceof Date ? at.toISOString() : at);
    const body =
      "deliveries" in what ? what : { since: time(what.since), ...(what.until !== undefined && { until: time(what.until) }) };
    return (await request("POST", of(id, organization, "/replays"), { body, schema: replayed, signal })).replay;
  }

  return {
    /** Lists all webhooks, oldest first. */
    list: ({ organization, signal }: Whose = {}): Promise<WebhookRecord[]> =>
      request("GET", at(organization), { schema: z.array(webhookSchema), signal }),

    /** Reads one webhook. @throws {@link ApiError} `not_found` */
    async get(id: string, { organization, signal }: Whose = {}): Promise<WebhookRecord> {
      return (await request("GET", of(id, organization), { schema: one, signal })).webhook;
    },

    /**
     * Creates a webhook. With `generateSecret` the response has a `secret`, which the service never shows again: give it to the receiver,
     * which calls {@link verifyWebhook}. Next, `sendTest` checks that the target responds.
     * @throws {@link ApiError} `invalid_request`: `field` is the invalid field.
     */
    async create(webhook: NewWebhook, { organization, signal }: Whose = {}): Promise<WebhookRecord & { secret?: string }> {
      const made = await request("POST", at(organization), { body: webhook, schema: withSecret, signal });
      return { ...made.webhook, ...(made.secret !== undefined && { secret: made.secret }) };
    },

    /** Changes a webhook. An empty `secret` removes its secret. */
    async update(id: string, changes: WebhookChanges, { organization, signal }: Whose = {}): Promise<WebhookRecord> {
      // Setting the same values again changes nothing.
      return (await request("POST", of(id, organization), { body: changes, schema: one, signal, isIdempotent: true })).webhook;
    },

    /** Enables a webhook, and sends the deliveries that were held while the service had disabled it. */
    async enable(id: string, { organization, signal }: Whose = {}): Promise<WebhookRecord> {
      return (await request("POST", of(id, organization, "/enable"), { schema: one, signal, isIdempotent: true })).webhook;
    },

    /** Disables a webhook. The webhook is kept, and events that happen meanwhile are not sent. */
    async disable(id: string, { organization, signal }: Whose = {}): Promise<WebhookRecord> {
      return (await request("POST", of(id, organization, "/disable"), { schema: one, signal, isIdempotent: true })).webhook;
    },

    /** Deletes a webhook for good, with its activity. */
    async delete(id: string, { organization, signal }: Whose = {}): Promise<void> {
      await request("DELETE", of(id, organization), { signal });
    },

    /**
     * Gives a webhook a new secret, which the service never shows again. For 24 hours, deliveries are also signed with the previous secret.
     */
    async rotateSecret(id: string, { organization, signal }: Whose = {}): Promise<WebhookRecord & { secret: string }> {
      const schema = one.extend({ secret: z.string() });
      const { webhook, secret } = await request("POST", of(id, organization, "/rotate-secret"), { schema, signal });
      return { ...webhook, secret };
    },

    /** Lists deliveries, newest first. `filter.limit` is the number of items on a page. */
    deliveries: (id: string, filter: DeliveryFilter = {}, { organization, signal }: Whose = {}) =>
      paged<DeliveryJson>(async (cursor) => {
        const query = { ...filter, ...(cursor !== undefined && { cursor }) };
        const page = await request("GET", of(id, organization, "/deliveries"), { query, schema: deliveryPageSchema, signal });
        return { items: page.deliveries, next: page.older };
      }),

    /** Reads one page of deliveries as the API returns it. Pass its `tail` to `live` to continue from there. */
    deliveryPage: (id: string, filter: DeliveryFilter = {}, { organization, signal }: Whose = {}) =>
      request("GET", of(id, organization, "/deliveries"), { query: filter, schema: deliveryPageSchema, signal }),

    /** Reads one delivery, with its payload and its latest twenty attempts. `attemptsBefore` reads earlier ones. */
    delivery: (
      id: string,
      deliveryId: string,
      { organization, signal, attemptsBefore }: Whose & { attemptsBefore?: string } = {},
    ) =>
      request("GET", of(id, organization, `/deliveries/${part(deliveryId)}`), {
        query: { attemptsBefore },
        schema: deliveryDetailSchema,
        signal,
      }),

    /** Reads how many attempts there were over time, by outcome. */
    chart: (id: string, range: ChartRange = "24h", { organization, signal }: Whose = {}) =>
      request("GET", of(id, organization, "/chart"), { query: { range }, schema: webhookChartSchema, signal }),

    /** Sends a delivery again, with the same bytes and the same `webhook-id`, and waits for the target's response. */
    replay: (id: string, deliveryId: string, { organization, signal }: Whose = {}) =>
      request("POST", of(id, organization, `/replay/${part(deliveryId)}`), { schema: replayAnswerSchema, signal }),

    /** Puts many deliveries into the queue again. When this returns, the replay is stored; `readReplay` reads its progress. */
    startReplay,

    /** Reads the progress of a replay. */
    readReplay,

    /** Cancels a replay. Deliveries that were already sent are not affected. */
    async cancelReplay(id: string, replayId: string, { organization, signal }: Whose = {}): Promise<WebhookReplayJson> {
      const path = of(id, organization, `/replays/${part(replayId)}/cancel`);
      return (await request("POST", path, { schema: replayed, signal, isIdempotent: true })).replay;
    },

    /** Lists the latest replays, at most 20. */
    listReplays: (id: string, { organization, signal }: Whose = {}): Promise<WebhookReplayJson[]> =>
      request("GET", of(id, organization, "/replays"), { schema: z.array(webhookReplaySchema), signal }),

    /**
     * Sends again all deliveries that failed in a range of time. Yields the replay's progress every `everyMs` milliseconds
     * (default 1,000), until all are sent or the replay was cancelled. The replay continues if you leave the loop.
     * @throws {@link ApiError} `conflict`: nothing failed in that time.
     */
    async *replayFailed(
      id: string,
      { since, until, everyMs = 1_000 }: { since: Date | string; until?: Date | string; everyMs?: number },
      whose: Whose = {},
    ): AsyncGenerator<WebhookReplayJson> {
      let now = await startReplay(id, { since, until }, whose);
      yield now;
      while (now.state === "running") {
        await sleep(everyMs, whose.signal);
        now = await readReplay(id, now.id, whose);
        yield now;
      }
    },

    /**
     * Sends a sample event, marked by the header `X-Webhook-Test: true`, and waits for the target's response. It counts towards no limit.
     */
    sendTest: (id: string, kind?: TestKind, { organization, signal }: Whose = {}) =>
      request("POST", of(id, organization, "/test"), {
        body: kind === undefined ? {} : { kind },
        schema: replayAnswerSchema,
        signal,
      }),

    /**
     * Follows a webhook's deliveries, from now on or from `tail`, until `signal` is aborted. Reconnects and continues where the stream was
     * cut off.
     * @throws {@link ApiError} if the token may no longer read the webhook; after an abort, the signal's reason.
     */
    live(id: string, { organization, signal, tail }: Whose & { tail?: string } = {}): AsyncIterable<LiveActivity> {
      let last = tail;
      return reconnecting(async function* () {
        for await (const { event, data, id: next } of stream(of(id, organization, "/deliveries/live"), {
          signal,
          lastEventId: last,
        })) {
          last = next ?? last;
          const at = last === undefined ? {} : { tail: last };
          if (event === "reset") yield { kind: "reset", ...at } as const;
          else if (event === "delivery") yield { kind: "delivery", delivery: readDelivery(data), ...at } as const;
        }
      }, signal);
    },
  };
}

function readDelivery(data: string): DeliveryJson {
  try {
    return deliverySchema.parse(JSON.parse(data));
  } catch (cause) {
    throw unexpectedContent(
      "The stream has a delivery that this SDK does not know. Use the SDK version that matches the service.",
      cause,
    );
  }
}
