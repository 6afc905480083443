import type pg from "pg";
import { withConnection } from "../../db.ts";
import { env } from "../../env.ts";
import { log } from "../../log.ts";
import { fanOutsSeen } from "../../telemetry.ts";
import { admitTriggers } from "./admit-triggers.ts";
import { BATCH, type ClaimedEvent, claimEvents, type Selection } from "./claim-events.ts";
import { insertDeliveries, type Match } from "./insert-deliveries.ts";
import { markEvents } from "./mark-events.ts";
import { matchWebhooks, type Watcher } from "./match-webhooks.ts";
import { type ParsedEvent, parseEvent } from "./parse-event.ts";

export type FannedOut = {
  /** Events that are done with. */
  events: number;
  deliveries: number;
  /** Events that have more watchers than were looked at. */
  begun: number;
  /** Whether there may be more to do at once. */
  isMore: boolean;
};

export type Part = {
  part: "fresh" | "begun";
  /** Watchers of one event that are looked at in one transaction. */
  page: number;
};

/** What one transaction works on, so that it is over soon whatever there is: some 4,000 deliveries at most. */
export const parts: readonly Part[] = [
  // Events with few watchers, which is nearly all: many at a time.
  { part: "fresh", page: 64 },
  // One that turned out to have more: from where its last page ended.
  { part: "begun", page: 64 * BATCH },
];

/**
 * Makes the deliveries of events: claims some, finds their webhooks, inserts and marks, all in one transaction (S122; decisions 048
 * and 051). Any number of workers may do so at once.
 * @throws {FanOutError} having changed nothing
 */
export async function fanOut({ part, page }: Part, selection: Selection = {}): Promise<FannedOut> {
  return withConnection(async (client) => {
    const claimed: ClaimedEvent[] = [];
    const [startedAt, begin] = [new Date(), performance.now()];
    try {
      await client.query(BEGIN);
      claimed.push(...(await claimEvents(client, part, selection)));
      const result = await makeDeliveries(client, claimed, page);
      await client.query("commit");
      if (claimed.length > 0 && fanOutsSeen.hasSubscribers) {
        const { deliveries } = result;
        fanOutsSeen.publish({ startedAt, milliseconds: performance.now() - begin, events: claimed, deliveries });
      }
      return { ...result, isMore: part === "begun" ? claimed.length > 0 : claimed.length === BATCH };
    } catch (error) {
      // Closing the connection undoes it too, in a while: until then whoever tries these events again would find them held, and pass.
      await client.query("rollback").catch(() => undefined);
      throw new FanOutError(
        claimed.map(({ id }) => id),
        error as Error,
      );
    }
  });
}

/** A fan-out that was undone. */
export class FanOutError extends Error {
  override name = "FanOutError";
  readonly eventIds: readonly string[];

  constructor(eventIds: readonly string[], cause: Error) {
    super(`cannot fan out: ${cause.message}`, { cause });
    this.eventIds = eventIds;
  }
}

// What is looked up is always a small part of its table, which the planner cannot know of targets that it has no statistics of; the cost
// must never be that of reading all webhooks. Planning costs more than
// running, and is done once a connection. A worker that hangs gives its events and counters back.
export const BEGIN = `begin; set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off; set local jit = off;
  set local plan_cache_mode = force_generic_plan;
  set local idle_in_transaction_session_timeout = '30s'`;

async function makeDeliveries(
  client: pg.ClientBase,
  claimed: readonly ClaimedEvent[],
  page: number,
): Promise<Omit<FannedOut, "isMore">> {
  if (claimed.length === 0) return { events: 0, deliveries: 0, begun: 0 };
  const { events, unusable } = readEvents(claimed);
  const watchers = events.length > 0 ? await matchWebhooks(client, events, page) : [];
  const matches = watchers.filter(({ isTold }) => isTold).map((watcher) => toMatch(watcher, events));
  if (matches.length > 0) {
    const over = await admitTriggers(client, matches, env().WEBHOOK_TRIGGERS_PER_DAY);
    await insertDeliveries(client, matches, over);
  }
  const begun = unfinished(watchers, events, page);
  const done = claimed.map(({ id }) => id).filter((id) => !begun.has(id) && !unusable.has(id));
  await markEvents(client, { done, begun, unusable });
  return { events: claimed.length - begun.size, deliveries: matches.length, begun: begun.size };
}

function readEvents(claimed: readonly ClaimedEvent[]): { events: ParsedEvent[]; unusable: Map<string, string> } {
  const events: ParsedEvent[] = [];
  const unusable = new Map<string, string>();
  for (const event of claimed) {
    // What was made up for one webhook that asked for a test is nobody else's.
    if (event.isTest) continue;
    const parsed = parseEvent(event);
    if ("unusable" in parsed) unusable.set(event.id, parsed.unusable);
    else events.push(parsed);
  }
  for (const [eventId, reason] of unusable) log().error({ eventId, reason }, "an event cannot be used and is set aside");
  return { events, unusable };
}

function toMatch({ event, webhookId, ownerId, url }: Watcher, events: readonly ParsedEvent[]): Match {
  return { event: events[event] as ParsedEvent, webhookId, ownerId, url };
}

/** The events of which a full page of watchers was found, with the last of them. */
function unfinished(watchers: readonly Watcher[], events: readonly ParsedEvent[], page: number): Map<string, string> {
  const byEvent = Map.groupBy(watchers, ({ event }) => event);
  const full = [...byEvent].filter(([, found]) => found.length === page);
  return new Map(full.map(([event, found]) => [events[event]?.id as string, found.at(-1)?.webhookId as string]));
}
