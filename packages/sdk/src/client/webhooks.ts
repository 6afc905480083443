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
import { ApiError } from "./api-error.ts";
import { paged } from "./paged.ts";
import { reconnecting } from "./reconnecting.ts";
import { sleep } from "./retry.ts";
import type { Transport } from "./transport.ts";
import { part, settingsPath, type Whose } from "./whose.ts";

export type NewWebhook = z.input<typeof newWebhookSchema>;
export type WebhookChanges = z.input<typeof webhookChangesSchema>;
/** What becomes of deliveries, as it happens. After a `reset` more has happened than is told: read the list again. */
export type LiveActivity = { kind: "delivery"; delivery: DeliveryJson; tail?: string } | { kind: "reset"; tail?: string };
/** Which deliveries a replay is about: those that are named, or all that have failed in a range of time. */
export type ReplayRange = { deliveries: string[] } | { since: Date | string; until?: Date | string | undefined };

const one = z.object({ webhook: webhookSchema });
const withSecret = one.extend({ secret: z.string().optional() });
const replayed = z.object({ replay: webhookReplaySchema });

/**
 * The caller's webhooks, or with `{ organization }` those of an organization. The token takes the scope `webhooks`.
 */
export function webhooksOf({ request, stream }: Transport) {
  const at = (organization: string | undefined) => `${settingsPath(organization)}/webhooks`;
  const of = (id: string, organization: string | undefined, rest = "") => `${at(organization)}/${part(id)}${rest}`;

  async function replays(id: string, replayId: string, { organization, signal }: Whose): Promise<WebhookReplayJson> {
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
    /** All of them, the oldest first. */
    list: ({ organization, signal }: Whose = {}): Promise<WebhookRecord[]> =>
      request("GET", at(organization), { schema: z.array(webhookSchema), signal }),

    async get(id: string, { organization, signal }: Whose = {}): Promise<WebhookRecord> {
      return (await request("GET", of(id, organization), { schema: one, signal })).webhook;
    },

    /** @returns with `secret` where `generateSecret` asked for one: it is never shown again */
    async create(webhook: NewWebhook, { organization, signal }: Whose = {}): Promise<WebhookRecord & { secret?: string }> {
      const made = await request("POST", at(organization), { body: webhook, schema: withSecret, signal });
      return { ...made.webhook, ...(made.secret !== undefined && { secret: made.secret }) };
    },

    /** What is left out stays as it is; an empty `secret` takes the secret away. */
    async update(id: string, changes: WebhookChanges, { organization, signal }: Whose = {}): Promise<WebhookRecord> {
      // What it is set to it stays set to, however often it is said.
      return (await request("POST", of(id, organization), { body: changes, schema: one, signal, isIdempotent: true })).webhook;
    },

    async enable(id: string, { organization, signal }: Whose = {}): Promise<WebhookRecord> {
      return (await request("POST", of(id, organization, "/enable"), { schema: one, signal, isIdempotent: true })).webhook;
    },

    /** It is kept, and what happens meanwhile is not sent. */
    async disable(id: string, { organization, signal }: Whose = {}): Promise<WebhookRecord> {
      return (await request("POST", of(id, organization, "/disable"), { schema: one, signal, isIdempotent: true })).webhook;
    },

    async delete(id: string, { organization, signal }: Whose = {}): Promise<void> {
      await request("DELETE", of(id, organization), { signal });
    },

    /** A new secret, shown this once; the one before signs beside it for 24 hours. */
    async rotateSecret(id: string, { organization, signal }: Whose = {}): Promise<WebhookRecord & { secret: string }> {
      const schema = one.extend({ secret: z.string() });
      const { webhook, secret } = await request("POST", of(id, organization, "/rotate-secret"), { schema, signal });
      return { ...webhook, secret };
    },

    /** What it did, the newest first. `limit` is how many a page has. */
    deliveries: (id: string, filter: DeliveryFilter = {}, { organization, signal }: Whose = {}) =>
      paged<DeliveryJson>(async (cursor) => {
        const query = { ...filter, ...(cursor !== undefined && { cursor }) };
        const page = await request("GET", of(id, organization, "/deliveries"), { query, schema: deliveryPageSchema, signal });
        return { items: page.deliveries, next: page.older };
      }),

    /** One page of them as the API has it: `tail` is where `live` goes on. */
    deliveryPage: (id: string, filter: DeliveryFilter = {}, { organization, signal }: Whose = {}) =>
      request("GET", of(id, organization, "/deliveries"), { query: filter, schema: deliveryPageSchema, signal }),

    /** One delivery: what was sent, and each attempt. */
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

    chart: (id: string, range: ChartRange = "24h", { organization, signal }: Whose = {}) =>
      request("GET", of(id, organization, "/chart"), { query: { range }, schema: webhookChartSchema, signal }),

    /** Sends a delivery again, the same bytes under the same `webhook-id`, and waits for what the target answers. */
    replay: (id: string, deliveryId: string, { organization, signal }: Whose = {}) =>
      request("POST", of(id, organization, `/replay/${part(deliveryId)}`), { schema: replayAnswerSchema, signal }),

    /** Puts many into the queue again; it is on record when this returns. */
    startReplay,

    readReplay: (id: string, replayId: string, whose: Whose = {}): Promise<WebhookReplayJson> => replays(id, replayId, whose),

    async cancelReplay(id: string, replayId: string, { organization, signal }: Whose = {}): Promise<WebhookReplayJson> {
      const path = of(id, organization, `/replays/${part(replayId)}/cancel`);
      return (await request("POST", path, { schema: replayed, signal, isIdempotent: true })).replay;
    },

    /** The latest, 20 at most. */
    listReplays: (id: string, { organization, signal }: Whose = {}): Promise<WebhookReplayJson[]> =>
      request("GET", of(id, organization, "/replays"), { schema: z.array(webhookReplaySchema), signal }),

    /**
     * Sends again all that have failed in a range of time and tells how far it is, until the last is sent or it was cancelled.
     * @throws ApiError `conflict` where nothing has failed in it
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
        now = await replays(id, now.id, whose);
        yield now;
      }
    },

    /** Sends a made-up event of a kind and waits for what the target answers: `X-Webhook-Test: true`, counted towards no limit. */
    sendTest: (id: string, kind?: TestKind, { organization, signal }: Whose = {}) =>
      request("POST", of(id, organization, "/test"), {
        body: kind === undefined ? {} : { kind },
        schema: replayAnswerSchema,
        signal,
      }),

    /**
     * What happens from now on, or from `tail` on, without an end: what drops is taken up again where it was.
     * @throws ApiError once it may not be read any more; what `signal` was aborted with
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
    throw new ApiError("The stream told of a delivery in a form that is not known. Use an SDK of the service's version.", {
      status: 200,
      code: "unexpected_answer",
      cause,
    });
  }
}
