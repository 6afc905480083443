import { AggregatorRegistry, Gauge, Registry } from "prom-client";
import { isEqualInConstantTime } from "../../crypto/token.ts";
import { pool } from "../../db.ts";
import { env } from "../../env.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { log } from "../../log.ts";
import { countAlive, SILENT_AFTER_SECONDS } from "../heartbeat.ts";
import { ownProcess, type ReportedMetrics } from "./process-metrics.ts";
import { readWork, type Work } from "./read-work.ts";

/** A token is needed even on loopback, because requests through a proxy on this machine also come from there. */
export async function readMetrics(authorization: string | undefined): Promise<{ contentType: string; text: string }> {
  const { METRICS_TOKEN } = env();
  if (!METRICS_TOKEN) throw notFound("Page");
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  if (token === undefined || !isEqualInConstantTime(token, METRICS_TOKEN)) {
    throw new ServiceError("unauthorized", "Send METRICS_TOKEN as a bearer token.");
  }
  const { metrics, heartbeat } = ownProcess() ?? {};
  const [work, mine, others] = await Promise.all([workMetrics(), metrics?.report() ?? [], reportedByOthers(heartbeat?.id ?? "")]);
  const processes = AggregatorRegistry.aggregate([mine, ...others] as never);
  return { contentType: processes.contentType, text: `${await work.metrics()}\n${await processes.metrics()}` };
}

async function reportedByOthers(ownId: string): Promise<ReportedMetrics[]> {
  try {
    const { rows } = await pool().query<{ metrics: ReportedMetrics }>(
      `SELECT metrics FROM process_heartbeat
        WHERE metrics IS NOT NULL AND id <> $1 AND seen_at > now() - make_interval(secs => $2) ORDER BY id LIMIT 200`,
      [ownId, SILENT_AFTER_SECONDS],
    );
    return rows.map(({ metrics }) => metrics);
  } catch {
    return [];
  }
}

/** Results are kept for this long, so that many scrapers cost the database as little as one. */
const KEPT_MS = 2_000;

type Measured = { work: Work; alive: Record<string, number>; messages: number };
let latest: { at: number; measured: Promise<Measured | null> } | undefined;

async function measure(): Promise<Measured | null> {
  try {
    const mail = pool().query<{ waiting: number }>(
      "SELECT count(*)::int AS waiting FROM mail WHERE sent_at IS NULL AND failed_at IS NULL",
    );
    const [work, alive, messages] = await Promise.all([readWork(), countAlive(), mail]);
    return { work, alive, messages: messages.rows[0]?.waiting ?? 0 };
  } catch (error) {
    log().debug({ err: error }, "the work cannot be measured");
    return null;
  }
}

async function workMetrics(): Promise<Registry> {
  if (!latest || performance.now() - latest.at > KEPT_MS) latest = { at: performance.now(), measured: measure() };
  const measured = await latest.measured;
  const registry = new Registry();
  const gauge = (name: string, help: string, label?: string) =>
    new Gauge({ name, help, registers: [registry], ...(label && { labelNames: [label] }) });
  gauge("keyhook_database_up", "Whether the database responded").set(measured ? 1 : 0);
  if (!measured) return registry;
  const { work, alive, messages } = measured;
  const age = (at: Date | null) => (at === null ? 0 : Math.max(0, (Date.now() - at.getTime()) / 1000));
  gauge("keyhook_events_waiting", "Events whose deliveries have not been created yet").set(work.events.waiting);
  gauge("keyhook_events_oldest_seconds", "How long the oldest of these events has waited").set(age(work.events.oldestAt));
  const queue = gauge(
    "keyhook_deliveries_queued",
    "Deliveries to be sent: due now, in progress, waiting for a retry, held",
    "state",
  );
  const { due, claimed, later, held, oldestDueAt } = work.deliveries;
  for (const [state, count] of Object.entries({ due, claimed, later, held })) queue.set({ state }, count);
  gauge("keyhook_deliveries_oldest_due_seconds", "How long the delivery that has been due the longest has waited").set(
    age(oldestDueAt),
  );
  const runs = gauge("keyhook_job_runs", "Jobs that have not finished", "stage");
  runs.set({ stage: "scheduling" }, work.runs.waiting);
  runs.set({ stage: "running" }, work.runs.running);
  gauge("keyhook_replays_open", "Replays in progress, each of many deliveries").set(work.replays);
  gauge("keyhook_relays_listening", "Relays with a listener").set(work.relays.listening);
  gauge("keyhook_relay_requests_waiting", "Requests in relays that no listener has answered yet").set(work.relays.waiting);
  gauge("keyhook_mail_waiting", "E-mails waiting to be sent").set(messages);
  const processes = gauge("keyhook_processes", "Processes seen in the last minute", "kind");
  for (const [kind, count] of Object.entries(alive)) processes.set({ kind }, count);
  return registry;
}
