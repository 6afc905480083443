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
  /** Finished events. */
  events: number;
  deliveries: number;
  /** Events with more watchers than one page. */
  begun: number;
  /** Whether there may be more to do at once. */
  isMore: boolean;
};

export type Part = {
  part: "fresh" | "begun";
  /** How many watchers of one event one transaction looks at. */
  page: number;
};

/** The work of one transaction, limited so that it ends soon in any case: some 4,000 deliveries at most. */
export const parts: readonly Part[] = [
  // Events with few watchers, which is nearly all: many at a time.
  { part: "fresh", page: 64 },
  // An event that turned out to have more: from the end of its last page.
  { part: "begun", page: 64 * BATCH },
];

/**
 * Creates the deliveries of events: claims some, finds their webhooks, inserts and marks, all in one transaction (S122;
 * decisions 048 and 051). Any number of workers may do so at once.
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
      // Closing the connection would roll back too, but later: until then the events would still be locked and skipped.
      await client.query("rollback").catch(() => undefined);
      throw new FanOutError(
        claimed.map(({ id }) => id),
        error as Error,
      );
    }
  });
}

/** A fan-out that was rolled back. */
export class FanOutError extends Error {
  override name = "FanOutError";
  readonly eventIds: readonly string[];

  constructor(eventIds: readonly string[], cause: Error) {
    super(`cannot fan out: ${cause.message}`, { cause });
    this.eventIds = eventIds;
  }
}

// Lookups always hit a small part of a table, which the planner cannot know for targets without statistics; they must never
// cost a scan of all webhooks. Planning costs more than running, so it is done once per connection. A worker that hangs
// loses its locks on events and counters.
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
    // A test event is only for the webhook that asked for it.
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

/** The events with a full page of watchers, each with the last of them. */
function unfinished(watchers: readonly Watcher[], events: readonly ParsedEvent[], page: number): Map<string, string> {
  const byEvent = Map.groupBy(watchers, ({ event }) => event);
  const full = [...byEvent].filter(([, found]) => found.length === page);
  return new Map(full.map(([event, found]) => [events[event]?.id as string, found.at(-1)?.webhookId as string]));
}
