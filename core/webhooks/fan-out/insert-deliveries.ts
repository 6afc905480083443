import type pg from "pg";
import { newOrderedId } from "../../ids.ts";
import { targetHost } from "../target-host.ts";
import { ACTIVITY_CHANNEL, DELIVERY_CHANNEL, type DeliveryState, lanes } from "../vocabulary.ts";
import type { ParsedEvent } from "./parse-event.ts";

/** One event for one webhook. */
export type Match = { event: ParsedEvent; webhookId: string; ownerId: string; url: string | null };

/**
 * Records deliveries, puts into the queue what is not over the limit, and tells whoever waits for either.
 * @param over how many of each webhook are over the limit: its last ones
 */
export async function insertDeliveries(
  tx: pg.ClientBase,
  matches: readonly Match[],
  over: ReadonlyMap<string, number>,
): Promise<void> {
  const states = statesOf(matches, over);
  const column = (pick: (match: Match) => string) => matches.map(pick);
  await tx.query({
    name: "insert-deliveries",
    text: INSERT,
    values: [
      matches.map(() => newOrderedId()),
      column(({ webhookId }) => webhookId),
      column(({ ownerId }) => ownerId),
      column(({ event }) => event.id),
      column(({ event }) => event.scope),
      column(({ event }) => event.action),
      column(({ event }) => event.repoId),
      column(({ event }) => event.repoType),
      column(({ event }) => event.repoName),
      states,
      column(({ url }) => targetHost(url)),
    ],
  });
}

/** The last ones of a webhook are over its limit, and those before them are sent. */
function statesOf(matches: readonly Match[], over: ReadonlyMap<string, number>): DeliveryState[] {
  const left = new Map(over);
  return matches
    .toReversed()
    .map(({ webhookId }): DeliveryState => {
      const count = left.get(webhookId) ?? 0;
      left.set(webhookId, count - 1);
      return count > 0 ? "rate_limited" : "waiting";
    })
    .toReversed();
}

const INSERT = `with made as materialized (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])
      as t(id, webhook_id, owner_id, event_id, scope, action, repo_id, repo_type, repo_name, state, host)
  ), delivery as (
    insert into delivery (id, webhook_id, owner_id, event_id, kind, scope, action, repo_id, repo_type, repo_name, state, finished_at)
    select id, webhook_id, owner_id, event_id, 'event', scope, action, repo_id, repo_type, repo_name, state,
      case when state = 'rate_limited' then now() end from made
  ), queue as (
    insert into delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane)
    select id, webhook_id, owner_id, event_id, host, 'first', ${lanes.first} from made where state = 'waiting'
  )
  select pg_notify(channel, payload) from (
    select distinct '${ACTIVITY_CHANNEL}' as channel, webhook_id as payload from made
    union all select '${DELIVERY_CHANNEL}', '' where exists (select from made where state = 'waiting')
  ) news`;
