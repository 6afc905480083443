import { Gauge, Registry } from "prom-client";
import { pool } from "../../db.ts";
import { log } from "../../log.ts";
import { countAlive } from "../heartbeat.ts";
import { readWork, type Work } from "./read-work.ts";

/** Many scrapers cost the database as little as one. */
const KEPT_MS = 2_000;

type Measured = { work: Work; alive: Record<string, number>; letters: number };
let latest: { at: number; measured: Promise<Measured | null> } | undefined;

async function measure(): Promise<Measured | null> {
  try {
    const mail = pool().query<{ waiting: number }>(
      "SELECT count(*)::int AS waiting FROM mail WHERE sent_at IS NULL AND failed_at IS NULL",
    );
    const [work, alive, letters] = await Promise.all([readWork(), countAlive(), mail]);
    return { work, alive, letters: letters.rows[0]?.waiting ?? 0 };
  } catch (error) {
    // A metric reports that it is unavailable, and this process's own metrics are returned anyway.
    log().debug({ err: error }, "the work cannot be measured");
    return null;
  }
}

/** What all processes share: the queues, as in the database. */
export async function workMetrics(): Promise<Registry> {
  if (!latest || performance.now() - latest.at > KEPT_MS) latest = { at: performance.now(), measured: measure() };
  const measured = await latest.measured;
  const registry = new Registry();
  const gauge = (name: string, help: string, label?: string) =>
    new Gauge({ name, help, registers: [registry], ...(label && { labelNames: [label] }) });
  gauge("keyhook_database_up", "Whether the database answered").set(measured ? 1 : 0);
  if (!measured) return registry;
  const { work, alive, letters } = measured;
  const age = (at: Date | null) => (at === null ? 0 : Math.max(0, (Date.now() - at.getTime()) / 1000));
  gauge("keyhook_events_waiting", "Events whose deliveries are still to be made").set(work.events.waiting);
  gauge("keyhook_events_oldest_seconds", "How long the oldest of them has waited").set(age(work.events.oldestAt));
  const queue = gauge(
    "keyhook_deliveries_queued",
    "Deliveries to be sent: due now, under way, to be tried again later, held",
    "state",
  );
  const { due, claimed, later, held, oldestDueAt } = work.deliveries;
  for (const [state, count] of Object.entries({ due, claimed, later, held })) queue.set({ state }, count);
  gauge("keyhook_deliveries_oldest_due_seconds", "How long the delivery that is due for longest has waited").set(
    age(oldestDueAt),
  );
  const runs = gauge("keyhook_job_runs", "Runs of jobs that are not over", "stage");
  runs.set({ stage: "scheduling" }, work.runs.waiting);
  runs.set({ stage: "running" }, work.runs.running);
  gauge("keyhook_replays_open", "Replays of many deliveries that are under way").set(work.replays);
  gauge("keyhook_relays_listening", "Relays to which somebody listens").set(work.relays.listening);
  gauge("keyhook_relay_requests_waiting", "Requests that relays keep and nobody has answered").set(work.relays.waiting);
  gauge("keyhook_mail_waiting", "Letters to be sent").set(letters);
  const processes = gauge("keyhook_processes", "Processes that were seen within a minute", "kind");
  for (const [kind, count] of Object.entries(alive)) processes.set({ kind }, count);
  return registry;
}
