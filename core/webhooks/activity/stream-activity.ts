import { type Actor, actorId } from "../../access/actor.ts";
import { isServiceError } from "../../errors.ts";
import { streamSlots } from "../../http/stream-slots.ts";
import { log, requestContext } from "../../log.ts";
import { findWebhookRow } from "../manage/find-webhook.ts";
import { type ActivityNews, joinFeed, recheckFeed } from "./activity-feed.ts";
import { deliveryJson } from "./delivery.ts";
import { visibleTo } from "./delivery-conditions.ts";

export const EVENT_STREAM_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store, no-transform",
  // nginx buffers responses without this header.
  "X-Accel-Buffering": "no",
};

const PING_MS = 15_000;

export const STREAMS_MAX_PER_PERSON = 10;
const takeSlot = streamSlots({
  perPerson: STREAMS_MAX_PER_PERSON,
  inAll: 2_000,
  sentence: "Too many live views are open. Close one of them, or try again later.",
  retryAfterSeconds: PING_MS / 1_000,
});

/** After this time, the actor is checked again before anything is sent. */
const TRUST_MS = 5_000;

type ActivityStream = {
  /** @throws ServiceError if the token or session has ended */
  actorNow: () => Promise<Actor>;
  webhookId: string;
  ownerId?: string | undefined;
  after?: string | undefined;
  signal: AbortSignal;
  pingMs?: number;
};

/** The stream ends when the webhook may no longer be read. The client then reconnects and learns why. */
export async function streamActivity(request: ActivityStream): Promise<ReadableStream<Uint8Array>> {
  const { actorNow, webhookId, ownerId, after, signal, pingMs = PING_MS } = request;
  let actor = await actorNow();
  await findWebhookRow(actor, webhookId, "webhook.read", { ownerId });
  const release = takeSlot(actorId(actor) ?? "operator");
  // Nobody reads or cancels the stream of a HEAD request.
  requestContext.getStore()?.whenClosed?.(release);
  const ended = new AbortController();
  const events = followActivity(webhookId, { after, signal: AbortSignal.any([signal, ended.signal]), pingMs });
  const encoder = new TextEncoder();
  let askedAt = Date.now();

  async function mayStay(): Promise<boolean> {
    if (Date.now() - askedAt < Math.min(TRUST_MS, pingMs)) return true;
    try {
      actor = await actorNow();
      await findWebhookRow(actor, webhookId, "webhook.read", { ownerId });
      askedAt = Date.now();
      return true;
    } catch (error) {
      if (!isServiceError(error)) log().warn({ err: error }, "a live view was ended: its viewer's access cannot be checked");
      return false;
    }
  }

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
  // If the client left during authentication, nobody would cancel the stream.
  if (signal.aborted) await close();

  let isBegun = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // The head is sent at once, so that the client knows about the connection.
        if (!isBegun) {
          isBegun = true;
          return controller.enqueue(encoder.encode(`retry: 3000\n\n`));
        }
        const { done, value } = await events.next().catch(failed);
        if (done || !(await mayStay())) {
          await close();
          return controller.close();
        }
        controller.enqueue(encoder.encode(value === "ping" ? ":\n\n" : toMessages(await visible(value))));
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}

function failed(error: unknown): { done: true; value: undefined } {
  log().warn({ err: error }, "a live view was ended: the activity cannot be read");
  return { done: true, value: undefined };
}

/** Only the last event has the ID, so that a client that was cut off gets all events again. */
function toMessages({ tail, deliveries, isReset }: ActivityNews): string {
  if (isReset) return `event: reset\nid: ${tail}\ndata: {}\n\n`;
  return deliveries
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((each, at, all) => {
      const id = at === all.length - 1 ? `id: ${tail}\n` : "";
      return `event: delivery\n${id}data: ${JSON.stringify(deliveryJson(each))}\n\n`;
    })
    .join("");
}

/** A follower with more changes to read gets `reset` instead. */
const PENDING_MAX = 500;

type FollowActivity = {
  after?: string | undefined;
  signal: AbortSignal;
  pingMs?: number;
};

/** A delivery may be reported several times. The caller must check access, also at each ping. */
export async function* followActivity(
  webhookId: string,
  { after, signal, pingMs = PING_MS }: FollowActivity,
): AsyncGenerator<ActivityNews | "ping", void, undefined> {
  const pending = new Pending();
  const { feed, leave } = await joinFeed(webhookId, (news) => pending.add(news));
  try {
    const since = timeOf(after);
    if (since !== undefined) pending.add(await feed.since(since));
    while (!signal.aborted) {
      const news = pending.take();
      if (news) yield news;
      else if (!(await pending.wait(pingMs, signal)) && !signal.aborted) {
        recheckFeed(webhookId);
        yield "ping";
      }
    }
  } finally {
    leave();
  }
}

/**
 * The client may send any text.
 * @returns milliseconds, or undefined for an invalid text
 */
function timeOf(after: string | undefined): number | undefined {
  return after !== undefined && /^\d{1,15}$/.test(after) ? Number(after) : undefined;
}

class Pending {
  #news: ActivityNews | undefined;
  #wake: (() => void) | undefined;

  add(news: ActivityNews): void {
    const deliveries = new Map([...(this.#news?.deliveries ?? []), ...news.deliveries].map((each) => [each.id, each]));
    const isReset = news.isReset || this.#news?.isReset === true || deliveries.size > PENDING_MAX;
    this.#news = { tail: news.tail, deliveries: isReset ? [] : [...deliveries.values()], isReset };
    if (this.#news.isReset || this.#news.deliveries.length > 0) this.#wake?.();
  }

  take(): ActivityNews | undefined {
    const news = this.#news;
    this.#news = undefined;
    return news && (news.isReset || news.deliveries.length > 0) ? news : undefined;
  }

  wait(milliseconds: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isNews: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        this.#wake = undefined;
        resolve(isNews);
      };
      const stop = () => end(false);
      const timer = setTimeout(stop, milliseconds);
      signal.addEventListener("abort", stop, { once: true });
      this.#wake = () => end(true);
    });
  }
}
