import { pool } from "../../db.ts";
import type { AttemptOutcome, DeliveryState } from "../vocabulary.ts";

export type Sparkline = {
  bars: { delivered: number; failed: number }[];
  deliveredShare: number | null;
  last: { id: string; state: DeliveryState; outcome: AttemptOutcome | null; status: number | null; createdAt: Date } | null;
};

const BARS = 24;
const HOUR_MS = 3_600_000;

type Row = {
  webhook_id: string;
  hours: { at: number; delivered: number; failed: number }[] | null;
  last: { id: string; state: DeliveryState; outcome: AttemptOutcome | null; status: number | null; at: string } | null;
};

/** The caller must have checked access. The hourly counts show which day to search for the latest delivery. */
export async function sparklines(webhookIds: readonly string[], now = new Date()): Promise<Map<string, Sparkline>> {
  const begin = (Math.floor(now.getTime() / HOUR_MS) + 1 - BARS) * HOUR_MS;
  const { rows } = await pool().query<Row>({
    name: "webhook-sparklines",
    text: `SELECT w.id AS webhook_id, h.hours, l.last
           FROM unnest($1::text[]) AS w(id)
           LEFT JOIN LATERAL (
             SELECT json_agg(json_build_object('at', (extract(epoch FROM hour) * 1000)::bigint,
                                               'delivered', delivered, 'failed', failed)) AS hours
             FROM webhook_hour WHERE webhook_id = w.id AND hour >= $2) h ON TRUE
           LEFT JOIN LATERAL (
             SELECT json_build_object('id', d.id, 'state', d.state, 'outcome', d.last_outcome, 'status', d.last_status,
                                      'at', d.created_at) AS last
             FROM delivery d
             WHERE d.webhook_id = w.id AND d.id >= lpad(to_hex(extract(epoch FROM (
               SELECT coalesce(
                 (SELECT hour FROM webhook_hour WHERE webhook_id = w.id AND (triggered > 0 OR rate_limited > 0) ORDER BY hour DESC LIMIT 1),
                 (SELECT max(hour) - interval '2 days' FROM webhook_hour WHERE webhook_id = w.id))))::bigint), 8, '0')
             ORDER BY d.id DESC LIMIT 1) l ON TRUE`,
    values: [webhookIds, new Date(begin)],
  });
  return new Map(rows.map((row) => [row.webhook_id, toSparkline(row, begin)]));
}

function toSparkline({ hours, last }: Row, begin: number): Sparkline {
  const bars = Array.from({ length: BARS }, () => ({ delivered: 0, failed: 0 }));
  let [delivered, failed] = [0, 0];
  for (const hour of hours ?? []) {
    const bar = bars[(hour.at - begin) / HOUR_MS];
    if (!bar) continue;
    [bar.delivered, bar.failed] = [hour.delivered, hour.failed];
    [delivered, failed] = [delivered + hour.delivered, failed + hour.failed];
  }
  return {
    bars,
    deliveredShare: delivered + failed === 0 ? null : delivered / (delivered + failed),
    last: last && { id: last.id, state: last.state, outcome: last.outcome, status: last.status, createdAt: new Date(last.at) },
  };
}
