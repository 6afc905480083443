import { pool } from "../../db.ts";
import { firstIdAt } from "../../ids.ts";
import { log } from "../../log.ts";
import { listen } from "../../notifications.ts";
import { ACTIVITY_CHANNEL } from "../vocabulary.ts";
import { type Delivery, type DeliveryRow, deliveryColumns, toDelivery } from "./delivery.ts";

export type ActivityNews = {
  tail: string;
  deliveries: Delivery[];
  isReset: boolean;
};

const PAUSE_MS = 500;
/** This many of the newest deliveries, and of the older ones that wait, are compared with their last state. */
const NEWEST = 100;
const WAITING = 100;
/** An older delivery changes only if it waits in the queue. Without `Retry-After`, all retries end within two days. */
const RECENT_MS = 2 * 86_400_000;
/** A delivery may be committed this long after its ID was created, including differences of clocks. */
const SLACK_MS = 10_000;

type Known = { deliveries: Map<string, Delivery>; newest: string | null; isFull: boolean };

class ActivityFeed {
  readonly followers = new Set<(news: ActivityNews) => void>();
  #known: Known | undefined;
  #reading: Promise<void> | undefined;
  #isStale = false;
  #pause: NodeJS.Timeout | undefined;
  readonly #webhookId: string;

  constructor(webhookId: string) {
    this.#webhookId = webhookId;
  }

  wake(): void {
    this.#isStale = true;
    if (this.#reading || this.#pause || this.followers.size === 0) return;
    this.read().catch((error: unknown) => {
      this.#isStale = true;
      log().warn({ err: error }, "the activity of a webhook cannot be read; trying again");
    });
  }

  read(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
      this.#pause ??= setTimeout(() => {
        this.#pause = undefined;
        if (this.#isStale) this.wake();
      }, PAUSE_MS).unref();
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    this.#isStale = false;
    const tail = String(Date.now());
    const before = this.#known;
    const known = await readKnown(this.#webhookId, before);
    this.#known = known;
    if (!before) return;
    const changed = [...known.deliveries.values()].filter(
      (each) => versionOf(each) !== versionOf(before.deliveries.get(each.id)),
    );
    const isReset = known.isFull && before.newest !== null && !known.deliveries.has(before.newest);
    if (changed.length === 0 && !isReset) return;
    for (const notify of this.followers) notify({ tail, deliveries: changed, isReset });
  }

  /** The follower may already know some of these changes. */
  async since(time: number): Promise<ActivityNews> {
    const tail = String(Date.now());
    await this.read();
    const { deliveries, isFull } = this.#known ?? { deliveries: new Map<string, Delivery>(), isFull: false };
    const from = new Date(time - SLACK_MS);
    const missed = [...deliveries.values()].filter(
      ({ createdAt, finishedAt, state, attempts }) =>
        createdAt >= from || (finishedAt && finishedAt >= from) || (state === "waiting" && attempts > 0),
    );
    const newest = missed.filter(({ createdAt }) => createdAt >= from).length;
    return { tail, deliveries: missed, isReset: isFull && newest >= NEWEST };
  }

  close(): void {
    clearTimeout(this.#pause);
  }
}

const versionOf = (delivery: Delivery | undefined): string =>
  delivery === undefined
    ? ""
    : [delivery.state, delivery.attempts, delivery.lastOutcome, delivery.lastStatus, delivery.nextAttemptAt?.getTime()].join();

async function readKnown(webhookId: string, before: Known | undefined): Promise<Known> {
  const waited = [...(before?.deliveries.values() ?? [])].filter(({ state }) => state === "waiting").map(({ id }) => id);
  const { rows } = await pool().query<DeliveryRow & { is_newest: boolean }>({
    name: "activity-feed",
    text: `WITH newest AS MATERIALIZED (
             SELECT d.* FROM delivery d WHERE d.webhook_id = $1 AND d.id >= $3 ORDER BY d.id DESC LIMIT ${NEWEST}
           ), others AS MATERIALIZED (
             SELECT unnest($2::text[]) AS id
             UNION (SELECT id FROM delivery_queue WHERE webhook_id = $1 ORDER BY due_at LIMIT ${WAITING})
             EXCEPT SELECT id FROM newest
           )
           SELECT ${deliveryColumns}, d.is_newest FROM (
             SELECT *, TRUE AS is_newest FROM newest
             UNION ALL SELECT d.*, FALSE FROM others o JOIN delivery d ON d.id = o.id WHERE d.webhook_id = $1
           ) d LEFT JOIN delivery_queue q ON q.id = d.id ORDER BY d.id DESC`,
    values: [webhookId, waited.slice(0, WAITING), firstIdAt(new Date(Date.now() - RECENT_MS))],
  });
  const newest = rows.filter((row) => row.is_newest);
  return {
    deliveries: new Map(rows.map((row) => [row.id, toDelivery(row)])),
    newest: newest[0]?.id ?? null,
    isFull: newest.length === NEWEST,
  };
}

const feeds = new Map<string, ActivityFeed>();

/** The caller must call `leave` at the end. */
export async function joinFeed(
  webhookId: string,
  notify: (news: ActivityNews) => void,
): Promise<{ feed: ActivityFeed; leave: () => void }> {
  const feed = feeds.get(webhookId) ?? new ActivityFeed(webhookId);
  feeds.set(webhookId, feed);
  feed.followers.add(notify);
  const leave = () => {
    feed.followers.delete(notify);
    if (feed.followers.size > 0) return;
    feed.close();
    if (feeds.get(webhookId) === feed) feeds.delete(webhookId);
  };
  try {
    await listen(ACTIVITY_CHANNEL, announce);
    await feed.read();
  } catch (error) {
    leave();
    throw error;
  }
  return { feed, leave };
}

/** After a reconnection, the ID is empty, because any webhook may have changes. */
function announce(webhookId: string): void {
  for (const [id, feed] of feeds) if (webhookId === "" || webhookId === id) feed.wake();
}

export function recheckFeed(webhookId: string): void {
  feeds.get(webhookId)?.wake();
}
