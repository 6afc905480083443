import type pg from "pg";
import { newOrderedId } from "../../ids.ts";
import { targetHost } from "../target-host.ts";
import { ACTIVITY_CHANNEL, DELIVERY_CHANNEL, type DeliveryState, lanes } from "../vocabulary.ts";
import type { ParsedEvent } from "./parse-event.ts";

/** One event for one webhook. */
export type Match = { event: ParsedEvent; webhookId: string; ownerId: string; url: string | null };

/**
 * Records deliveries, queues those within the limit, and notifies those who wait for either.
 * @param over those over the limit
 */
export async function insertDeliveries(tx: pg.ClientBase, matches: readonly Match[], over: ReadonlySet<Match>): Promise<void> {
  const states = matches.map((match): DeliveryState => (over.has(match) ? "rate_limited" : "waiting"));
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
