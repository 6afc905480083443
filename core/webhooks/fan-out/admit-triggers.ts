import type pg from "pg";
import { Prisma } from "../../generated/prisma/client.ts";
import { inTriggerWindow } from "../trigger-limit.ts";

/**
 * Counts how often webhooks are triggered, and says how many of the triggers are over the limit of 24 hours (S127, S131): the last ones.
 * Exact with several fan-outs at once, since each holds the rows of the hour from here to its end, and takes them in one order.
 * @param triggers how many of each webhook
 * @returns how many are over it, only of webhooks with any
 */
export async function admitTriggers(
  tx: pg.ClientBase,
  triggers: ReadonlyMap<string, number>,
  limit: number,
): Promise<Map<string, number>> {
  const webhookIds = [...triggers.keys()].sort();
  const counts = webhookIds.map((id) => triggers.get(id));
  await tx.query({ name: "count-triggers", text: COUNT, values: [webhookIds, counts] });
  const { text, values } = Prisma.sql`SELECT w.id, sum(h.triggered)::int AS triggered
    FROM unnest(${webhookIds}::text[]) w(id) JOIN webhook_hour h ON h.webhook_id = w.id AND ${inTriggerWindow}
    GROUP BY w.id HAVING sum(h.triggered) > ${limit}`;
  const { rows } = await tx.query<{ id: string; triggered: number }>({ name: "read-triggers", text, values });
  const over = new Map(rows.map(({ id, triggered }) => [id, Math.min(triggered - limit, triggers.get(id) ?? 0)]));
  if (over.size > 0)
    await tx.query({ name: "take-back-triggers", text: TAKE_BACK, values: [[...over.keys()], [...over.values()]] });
  return over;
}

// Just after the hour, a transaction that still counts in the last one may not be over. Then both hours' rows are taken, so that it is
// waited for; rows are made even where nothing is counted, because there is no waiting for what is not there yet.
const COUNT = `insert into webhook_hour as h (webhook_id, hour, triggered)
  select w.id, hours.hour, case when hours.hour = date_trunc('hour', now(), 'UTC') then w.count else 0 end
  from unnest($1::text[], $2::int[]) w(id, count)
  cross join (select distinct date_trunc('hour', at, 'UTC') as hour from unnest(array[now(), now() - interval '5 minutes']) at) hours
  order by w.id, hours.hour
  on conflict (webhook_id, hour) do update set triggered = h.triggered + excluded.triggered`;

const TAKE_BACK = `update webhook_hour h set triggered = h.triggered - w.count, rate_limited = h.rate_limited + w.count
  from unnest($1::text[], $2::int[]) w(id, count) where h.webhook_id = w.id and h.hour = date_trunc('hour', now(), 'UTC')`;
