import type { ChartRange, WebhookChartJson } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { pool } from "../../db.ts";
import { env } from "../../env.ts";
import { latencyPercentile } from "../latency-buckets.ts";
import { findWebhookRow } from "../manage/find-webhook.ts";

export type ChartBar = {
  from: Date;
  to: Date;
  delivered: number;
  failed: number;
  rateLimited: number;
  triggered: number;
  medianMs: number | null;
  p99Ms: number | null;
};

export type WebhookChart = {
  range: ChartRange;
  from: Date;
  to: Date;
  bars: ChartBar[];
  delivered: number;
  failed: number;
  rateLimited: number;
  deliveredShare: number | null;
  medianMs: number | null;
  p99Ms: number | null;
  waitingToRetry: number;
  triggers: { count: number; limit: number };
};

const HOUR_MS = 3_600_000;
const shapes: Record<ChartRange, { bars: number; hours: number }> = {
  "24h": { bars: 24, hours: 1 },
  "7d": { bars: 28, hours: 6 },
  "30d": { bars: 30, hours: 24 },
};
const WAITING_MAX = 10_000;

export async function readChart(
  actor: Actor,
  webhookId: string,
  range: ChartRange,
  { ownerId, now = new Date() }: { ownerId?: string | undefined; now?: Date } = {},
): Promise<WebhookChart> {
  await findWebhookRow(actor, webhookId, "webhook.read", { ownerId });
  const { bars: count, hours } = shapes[range];
  const end = (Math.floor(now.getTime() / HOUR_MS) + 1) * HOUR_MS;
  const width = hours * HOUR_MS;
  const begin = end - count * width;
  const [rows, waitingToRetry, triggered] = await Promise.all([
    readHours(webhookId, new Date(begin)),
    countWaitingToRetry(webhookId),
    countTriggers(webhookId),
  ]);
  const bars = Array.from({ length: count }, (_, at) => emptyBar(begin + at * width, width));
  const latencies: number[] = [];
  const latenciesOf = bars.map((): number[] => []);
  for (const row of rows) {
    const at = Math.floor((row.hour.getTime() - begin) / width);
    const bar = bars[at];
    if (!bar) continue;
    bar.delivered += row.delivered;
    bar.failed += row.failed;
    bar.rateLimited += row.rate_limited;
    bar.triggered += row.triggered;
    for (const counts of [latencies, latenciesOf[at] ?? []]) {
      for (const [bucket, counted] of row.latencies?.entries() ?? []) counts[bucket] = (counts[bucket] ?? 0) + counted;
    }
  }
  for (const [at, bar] of bars.entries()) {
    bar.medianMs = latencyPercentile(latenciesOf[at] ?? [], 0.5);
    bar.p99Ms = latencyPercentile(latenciesOf[at] ?? [], 0.99);
  }
  const [delivered, failed, rateLimited] = [sum(bars, "delivered"), sum(bars, "failed"), sum(bars, "rateLimited")];
  return {
    ...{ range, from: new Date(begin), to: new Date(end), bars, delivered, failed, rateLimited, waitingToRetry },
    deliveredShare: delivered + failed === 0 ? null : delivered / (delivered + failed),
    medianMs: latencyPercentile(latencies, 0.5),
    p99Ms: latencyPercentile(latencies, 0.99),
    triggers: { count: triggered, limit: triggerLimit() },
  };
}

type HourRow = {
  hour: Date;
  triggered: number;
  rate_limited: number;
  delivered: number;
  failed: number;
  latencies: number[] | null;
};

async function readHours(webhookId: string, since: Date): Promise<HourRow[]> {
  const { rows } = await pool().query<HourRow>({
    name: "webhook-hours",
    text: `SELECT hour, triggered, rate_limited, delivered, failed, latencies FROM webhook_hour
           WHERE webhook_id = $1 AND hour >= $2 ORDER BY hour`,
    values: [webhookId, since],
  });
  return rows;
}

export async function hasFailedAttempts(webhookId: string): Promise<boolean> {
  const { rows } = await pool().query<{ failed: boolean }>({
    name: "webhook-has-failed",
    text: `SELECT EXISTS (SELECT FROM webhook_hour
             WHERE webhook_id = $1 AND failed > 0 AND hour >= now() - interval '31 days') AS failed`,
    values: [webhookId],
  });
  return rows[0]?.failed === true;
}

async function countWaitingToRetry(webhookId: string): Promise<number> {
  const { rows } = await pool().query<{ count: number }>({
    name: "webhook-waiting-to-retry",
    text: `SELECT count(*)::int AS count FROM (
             SELECT FROM delivery_queue WHERE webhook_id = $1 AND tries > 0 LIMIT ${WAITING_MAX}) waiting`,
    values: [webhookId],
  });
  return rows[0]?.count ?? 0;
}

const emptyBar = (from: number, width: number): ChartBar => ({
  from: new Date(from),
  to: new Date(from + width),
  ...{ delivered: 0, failed: 0, rateLimited: 0, triggered: 0, medianMs: null, p99Ms: null },
});

const sum = (bars: ChartBar[], key: "delivered" | "failed" | "rateLimited"): number =>
  bars.reduce((total, bar) => total + bar[key], 0);

export function chartJson({ from, to, bars, ...rest }: WebhookChart): WebhookChartJson {
  return {
    ...rest,
    from: from.toISOString(),
    to: to.toISOString(),
    bars: bars.map((bar) => ({ ...bar, from: bar.from.toISOString(), to: bar.to.toISOString() })),
  };
}

const triggerLimit = (): number => env().WEBHOOK_TRIGGERS_PER_DAY;

/** Counts the current hour and the 24 before, as the limit does (S127). */
async function countTriggers(webhookId: string): Promise<number> {
  const { rows } = await pool().query<{ count: number }>({
    name: "webhook-triggers",
    text: `SELECT coalesce(sum(triggered), 0)::int AS count FROM webhook_hour h
           WHERE webhook_id = $1 AND h.hour >= date_trunc('hour', now(), 'UTC') - interval '24 hours'`,
    values: [webhookId],
  });
  return rows[0]?.count ?? 0;
}
