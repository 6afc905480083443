import { type ActivityNews, joinFeed, recheckFeed } from "./activity-feed.ts";

/** A slow follower is told to read the list again once this many deliveries wait for them. */
const PENDING_MAX = 500;
export const HEARTBEAT_MS = 15_000;

export type FollowActivity = {
  /** From the last news, or `tail` of a list page; without it, only changes from now on are reported. */
  after?: string | undefined;
  signal: AbortSignal;
  heartbeatMs?: number;
};

/**
 * Reports changes of a webhook's deliveries until `signal` aborts, each delivery in its state then, so that repeated reports of
 * one do no harm to a reader who stores them by id. Yields `"heartbeat"` if nothing happened for a while. The caller has found
 * the webhook, and checks at each heartbeat that it may still be read.
 */
export async function* followActivity(
  webhookId: string,
  { after, signal, heartbeatMs = HEARTBEAT_MS }: FollowActivity,
): AsyncGenerator<ActivityNews | "heartbeat", void, undefined> {
  const pending = new Pending();
  const { feed, leave } = await joinFeed(webhookId, (news) => pending.add(news));
  try {
    const since = timeOf(after);
    if (since !== undefined) pending.add(await feed.since(since));
    while (!signal.aborted) {
      const news = pending.take();
      if (news) yield news;
      else if (!(await pending.wait(heartbeatMs, signal)) && !signal.aborted) {
        recheckFeed(webhookId);
        yield "heartbeat";
      }
    }
  } finally {
    leave();
  }
}

/** A time in milliseconds, as in `tail`. Anything else is ignored: it comes from elsewhere. */
function timeOf(after: string | undefined): number | undefined {
  return after !== undefined && /^\d{1,15}$/.test(after) ? Number(after) : undefined;
}

/** News that a follower has not taken yet: the latest state of each delivery. */
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

  /** @returns true if there is news, false if the time is over. */
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
