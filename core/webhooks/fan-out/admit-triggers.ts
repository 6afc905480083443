import type pg from "pg";
import { Prisma } from "../../generated/prisma/client.ts";
import { inTriggerWindow } from "../trigger-limit.ts";
import type { Match } from "./insert-deliveries.ts";

/** Users who may not write to the repository can use only a quarter of a webhook's triggers, so that nobody can mute it for its owner. */
const outsidersPart = (limit: number): number => Math.max(1, Math.floor(limit / 4));

/**
 * Counts triggers of webhooks, and finds those over the limit of 24 hours (S127, S131): the last ones. The count is exact with
 * concurrent fan-outs, since each locks the hour's rows until its end, in one order.
 * @returns those over the limit, which must not be sent
 */
export async function admitTriggers(tx: pg.ClientBase, matches: readonly Match[], limit: number): Promise<ReadonlySet<Match>> {
  const byWebhook = new Map(
    [...Map.groupBy(matches, ({ webhookId }) => webhookId)].sort(([one], [other]) => (one < other ? -1 : 1)),
  );
  await tx.query({ name: "count-triggers", text: COUNT, values: counted(byWebhook) });
  const { text, values } = Prisma.sql`SELECT w.id, sum(h.triggered)::int AS triggered, sum(h.by_outsiders)::int AS "byOutsiders"
    FROM unnest(${[...byWebhook.keys()]}::text[]) w(id) JOIN webhook_hour h ON h.webhook_id = w.id AND ${inTriggerWindow}
    GROUP BY w.id HAVING sum(h.triggered) > ${limit} OR sum(h.by_outsiders) > ${outsidersPart(limit)}`;
  const { rows } = await tx.query<Triggers & { id: string }>({ name: "read-triggers", text, values });
  const over = new Map(rows.map(({ id, ...triggers }) => [id, lastOver(byWebhook.get(id) ?? [], triggers, limit)]));
  if (over.size > 0) await tx.query({ name: "take-back-triggers", text: TAKE_BACK, values: counted(over) });
  return new Set([...over.values()].flat());
}

type Triggers = { triggered: number; byOutsiders: number };

const ofOutsiders = (matches: readonly Match[]): Match[] => matches.filter(({ event }) => event.isByOutsider);

function counted(byWebhook: ReadonlyMap<string, readonly Match[]>): [ids: string[], all: number[], byOutsiders: number[]] {
  const each = [...byWebhook.values()];
  return [[...byWebhook.keys()], each.map(({ length }) => length), each.map((matches) => ofOutsiders(matches).length)];
}

/** First those over the outsiders' part; they use nothing of the others' limit. */
function lastOver(matches: readonly Match[], { triggered, byOutsiders }: Triggers, limit: number): Match[] {
  const beyondPart = last(ofOutsiders(matches), byOutsiders - outsidersPart(limit));
  const others = matches.filter((match) => !beyondPart.includes(match));
  return [...beyondPart, ...last(others, triggered - beyondPart.length - limit)];
}

const last = (matches: readonly Match[], count: number): readonly Match[] => (count > 0 ? matches.slice(-count) : []);

// Just after the hour, a transaction that still counts in the previous one may be open. The rows of both hours are then
// locked, to wait for it. Rows are created even if nothing is counted, because one cannot wait for a missing row.
const COUNT = `insert into webhook_hour as h (webhook_id, hour, triggered, by_outsiders)
  select w.id, hours.hour, case when hours.is_now then w.count else 0 end, case when hours.is_now then w.by_outsiders else 0 end
  from unnest($1::text[], $2::int[], $3::int[]) w(id, count, by_outsiders)
  cross join (select distinct date_trunc('hour', at, 'UTC') as hour, date_trunc('hour', at, 'UTC') = date_trunc('hour', now(), 'UTC') as is_now
    from unnest(array[now(), now() - interval '5 minutes']) at) hours
  order by w.id, hours.hour
  on conflict (webhook_id, hour) do update set triggered = h.triggered + excluded.triggered,
    by_outsiders = h.by_outsiders + excluded.by_outsiders`;

const TAKE_BACK = `update webhook_hour h set triggered = h.triggered - w.count, by_outsiders = h.by_outsiders - w.by_outsiders,
    rate_limited = h.rate_limited + w.count
  from unnest($1::text[], $2::int[], $3::int[]) w(id, count, by_outsiders) where h.webhook_id = w.id and h.hour = date_trunc('hour', now(), 'UTC')`;
