import { hostname } from "node:os";
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import { pool } from "../../db.ts";
import { env } from "../../env.ts";
import { fairQueues } from "../../fair-queue/fair-queue.ts";
import { partyKinds } from "../../fair-queue/request-pace.ts";
import { timeOfOrderedId } from "../../ids.ts";
import { attemptsSeen, fanOutsSeen, pacedSeen, rejectionsSeen, requestsSeen } from "../../telemetry.ts";
import { deliveryPool } from "../../webhooks/delivery/delivery-pool.ts";
import { type Heartbeat, type ProcessKind, startHeartbeat } from "../heartbeat.ts";

export type ReportedMetrics = MetricObjectWithValues<MetricValue<string>>[];

type ProcessMetrics = {
  report(): Promise<ReportedMetrics>;
  stop(): void;
};

/** Seconds, from the time of a page to that of a large push. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];
/** Seconds. An attempt ends after fifteen. */
const ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const DELAY_BUCKETS = [0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600];

/** Labels must have few values, and none that users choose. */
export function startProcessMetrics(kind: ProcessKind): ProcessMetrics {
  const registry = new Registry();
  registry.setDefaultLabels({ process: kind, instance: `${hostname().slice(0, 100)}:${process.pid}` });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const pools = { shared: pool, ...(kind === "worker" && { deliveries: deliveryPool }) };
  new Gauge({
    name: "keyhook_database_pool_connections",
    help: "Connections of this process to the database, and statements that wait for one",
    labelNames: ["pool", "state"],
    registers,
    collect() {
      for (const [name, connections] of Object.entries(pools)) {
        const { totalCount, idleCount, waitingCount } = connections();
        this.set({ pool: name, state: "busy" }, totalCount - idleCount);
        this.set({ pool: name, state: "idle" }, idleCount);
        this.set({ pool: name, state: "waited_for" }, waitingCount);
      }
    },
  });
  watchQueues(registers);
  const stops = [
    ...(kind === "web" ? [watchRequests(registers), watchPace(registers)] : []),
    watchFanOut(registers),
    watchAttempts(registers),
    watchRejections(registers),
  ];
  return {
    report: () => registry.getMetricsAsJSON() as unknown as Promise<ReportedMetrics>,
    stop() {
      for (const stop of stops) stop();
      registry.clear();
    },
  };
}

function watchQueues(registers: Registry[]): void {
  new Gauge({
    name: "keyhook_queue_places",
    help: "Slots of the fair queues for expensive work: in use, and waited for",
    labelNames: ["queue", "state"],
    registers,
    collect() {
      for (const { name, counts } of fairQueues()) {
        this.set({ queue: name, state: "taken" }, counts.taken);
        this.set({ queue: name, state: "waited_for" }, counts.waiting);
      }
    },
  });
  new Counter({
    name: "keyhook_queue_refused_total",
    help: "Requests that a fair queue refused: their caller's queue was full, or they waited too long",
    labelNames: ["queue"],
    registers,
    collect() {
      this.reset();
      for (const { name, counts } of fairQueues()) this.inc({ queue: name }, counts.refused);
    },
  });
}

function watchRequests(registers: Registry[]): () => void {
  const seconds = new Histogram({
    name: "keyhook_request_duration_seconds",
    help: "Time from a request's headers to the end of its response",
    labelNames: ["door", "status"],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  return requestsSeen.subscribe(({ door, status, milliseconds, isAborted }) => {
    seconds.observe({ door, status: isAborted ? "aborted" : `${Math.floor(status / 100)}xx` }, milliseconds / 1000);
  });
}

function watchPace(registers: Registry[]): () => void {
  const labelNames = ["party", "outcome"];
  const help = "Requests that had to wait for their turn while the process was busy, or were refused";
  const paced = new Counter({ name: "keyhook_requests_paced_total", help, labelNames, registers });
  // If a counter starts at zero, the first request shows as an increase.
  for (const party of partyKinds) for (const outcome of ["waited", "refused"]) paced.inc({ party, outcome }, 0);
  return pacedSeen.subscribe((seen) => paced.inc(seen));
}

function watchFanOut(registers: Registry[]): () => void {
  const events = new Counter({
    name: "keyhook_events_fanned_out_total",
    help: "Events whose deliveries were created",
    registers,
  });
  const deliveries = new Counter({ name: "keyhook_deliveries_made_total", help: "Deliveries created from events", registers });
  return fanOutsSeen.subscribe((seen) => {
    events.inc(seen.events.length);
    deliveries.inc(seen.deliveries);
  });
}

function watchRejections(registers: Registry[]): () => void {
  const rejections = new Counter({
    name: "keyhook_unhandled_rejections_total",
    help: "Unhandled rejections in a worker: bugs in this service",
    registers,
  });
  return rejectionsSeen.subscribe(() => rejections.inc());
}

function watchAttempts(registers: Registry[]): () => void {
  const attempts = new Counter({
    name: "keyhook_delivery_attempts_total",
    help: "Delivery attempts, by outcome (delivered, rejected, unreachable, blocked, withheld), kind and target",
    labelNames: ["outcome", "kind", "target"],
    registers,
  });
  const seconds = new Histogram({
    name: "keyhook_delivery_attempt_duration_seconds",
    help: "Duration of an attempt, from DNS to the end of the response",
    labelNames: ["outcome"],
    buckets: ATTEMPT_BUCKETS,
    registers,
  });
  const delay = new Histogram({
    name: "keyhook_delivery_delay_seconds",
    help: "Time from the creation of a delivery to its first attempt",
    buckets: DELAY_BUCKETS,
    registers,
  });
  return attemptsSeen.subscribe(({ deliveryId, outcome, kind, isJob, startedAt, milliseconds }) => {
    attempts.inc({ outcome, kind, target: isJob ? "job" : "url" });
    if (!isJob) seconds.observe({ outcome }, milliseconds / 1000);
    if (kind === "first") delay.observe(Math.max(0, startedAt.getTime() - timeOfOrderedId(deliveryId).getTime()) / 1000);
  });
}

export type OwnProcess = { heartbeat: Heartbeat; metrics: ProcessMetrics | null; stop(): Promise<void> };

let own: OwnProcess | undefined;

export function startOwnProcess(kind: ProcessKind): OwnProcess {
  const metrics = env().METRICS_TOKEN ? startProcessMetrics(kind) : null;
  const heartbeat = startHeartbeat(kind, metrics?.report);
  own = {
    heartbeat,
    metrics,
    async stop() {
      own = undefined;
      await heartbeat.stop();
      metrics?.stop();
    },
  };
  return own;
}

export const ownProcess = (): OwnProcess | undefined => own;
