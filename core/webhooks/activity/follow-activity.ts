import { type ActivityNews, joinFeed, recheckFeed } from "./activity-feed.ts";

/** A follower who is slow is told to read the list again once this many deliveries wait for them. */
const PENDING_MAX = 500;
export const HEARTBEAT_MS = 15_000;

export type FollowActivity = {
  /** From the last news, or `tail` of a page of the list; without it only what happens from now on is told. */
  after?: string | undefined;
  signal: AbortSignal;
  heartbeatMs?: number;
};

/**
 * What happens to the deliveries of a webhook, as it happens, until `signal` aborts: each as it is then, so that a delivery which is
 * told of twice is the same to whoever keeps them by id. `"heartbeat"` when nothing happened for a while. Whoever calls has found the
 * webhook, and asks at each heartbeat whether it may still be read.
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

/** A time in milliseconds, as `tail` has it. What is none comes from somewhere else, and is as good as nothing. */
function timeOf(after: string | undefined): number | undefined {
  return after !== undefined && /^\d{1,15}$/.test(after) ? Number(after) : undefined;
}

/** News that a follower has not taken yet: of each delivery the latest. */
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

  /** @returns whether there is news, or else the time is over. */
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
