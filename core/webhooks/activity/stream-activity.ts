import { type Actor, actorId } from "../../access/actor.ts";
import { isServiceError } from "../../errors.ts";
import { streamPlaces } from "../../http/stream-places.ts";
import { log } from "../../log.ts";
import type { ActivityNews } from "./activity-feed.ts";
import { deliveryJson } from "./delivery.ts";
import { visibleTo } from "./delivery-conditions.ts";
import { findWebhookRow } from "./find-webhook-row.ts";
import { followActivity, HEARTBEAT_MS } from "./follow-activity.ts";

/** Headers of a response that is an event stream. */
export const EVENT_STREAM_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store, no-transform",
  // nginx buffers responses unless told not to.
  "X-Accel-Buffering": "no",
};

/** Live views that one user may have open on one web process. */
export const STREAMS_MAX_PER_PERSON = 10;
const takePlace = streamPlaces({
  perPerson: STREAMS_MAX_PER_PERSON,
  inAll: 2_000,
  sentence: "Too many live views are open. Close one of them, or try again in a while.",
  retryAfterSeconds: HEARTBEAT_MS / 1_000,
});

/** After this long, the actor is checked again before anything is sent. */
const TRUST_MS = 5_000;

export type ActivityStream = {
  /** The actor behind the request, according to their token or session now. @throws ServiceError if it has ended */
  actorNow: () => Promise<Actor>;
  webhookId: string;
  ownerId?: string | undefined;
  /** `Last-Event-ID`, or `tail` of the shown page. */
  after?: string | undefined;
  /** The request's signal: it ends the stream when the client goes away. */
  signal: AbortSignal;
  heartbeatMs?: number;
};

/**
 * The live tail of a webhook's activity as server-sent events, for each door that shows it: `delivery` (a delivery as in
 * lists), `reset` (there may be more changes: read the list again), and a comment as a heartbeat. It ends when the webhook may
 * no longer be read; the client reconnects and learns why.
 * @throws ServiceError `not_found`; `rate_limited` if the user has too many open
 */
export async function streamActivity(request: ActivityStream): Promise<ReadableStream<Uint8Array>> {
  const { actorNow, webhookId, ownerId, after, signal, heartbeatMs = HEARTBEAT_MS } = request;
  let actor = await actorNow();
  await findWebhookRow(actor, webhookId, "webhook.read", { ownerId });
  const release = takePlace(actorId(actor) ?? "operator");
  const ended = new AbortController();
  const events = followActivity(webhookId, { after, signal: AbortSignal.any([signal, ended.signal]), heartbeatMs });
  const encoder = new TextEncoder();
  let askedAt = Date.now();

  async function mayStay(): Promise<boolean> {
    if (Date.now() - askedAt < Math.min(TRUST_MS, heartbeatMs)) return true;
    try {
      actor = await actorNow();
      await findWebhookRow(actor, webhookId, "webhook.read", { ownerId });
      askedAt = Date.now();
      return true;
    } catch (error) {
      if (!isServiceError(error)) log().warn({ err: error }, "a live view ends: who watches cannot be asked");
      return false;
    }
  }

  /** Removes the deliveries that a token may not see. */
  async function visible(news: ActivityNews): Promise<ActivityNews> {
    const ids = await visibleTo(
      actor,
      news.deliveries.map(({ id }) => id),
    );
    return { ...news, deliveries: news.deliveries.filter(({ id }) => ids.has(id)) };
  }

  async function close(): Promise<void> {
    ended.abort();
    release();
    await events.return();
  }
  signal.addEventListener("abort", () => void close().catch(() => undefined), { once: true });
  // The client went away during authentication: nobody would read or cancel the stream.
  if (signal.aborted) await close();

  let isBegun = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Sends the head at once: a client that waits for it does not know whether it is connected.
        if (!isBegun) {
          isBegun = true;
          return controller.enqueue(encoder.encode(`retry: 3000\n\n`));
        }
        const { done, value } = await events.next().catch(failed);
        if (done || !(await mayStay())) {
          await close();
          return controller.close();
        }
        controller.enqueue(encoder.encode(value === "heartbeat" ? ":\n\n" : spelled(await visible(value))));
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}

function failed(error: unknown): { done: true; value: undefined } {
  log().warn({ err: error }, "a live view ends: the activity cannot be read");
  return { done: true, value: undefined };
}

/** Only the last event has the id, so that a client cut off in between continues from before all of them. */
function spelled({ tail, deliveries, isReset }: ActivityNews): string {
  if (isReset) return `event: reset\nid: ${tail}\ndata: {}\n\n`;
  // The oldest first, as they would have arrived one by one.
  return deliveries
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((each, at, all) => {
      const id = at === all.length - 1 ? `id: ${tail}\n` : "";
      return `event: delivery\n${id}data: ${JSON.stringify(deliveryJson(each))}\n\n`;
    })
    .join("");
}
