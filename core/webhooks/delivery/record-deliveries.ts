import { databaseCodes } from "../../db.ts";
import { newOrderedId } from "../../ids.ts";
import { LATENCY_BUCKETS, latencyBucket } from "../latency-buckets.ts";
import { targetHost } from "../target-host.ts";
import { ACTIVITY_CHANNEL, lanes } from "../vocabulary.ts";
import type { Attempt, Decision, Step } from "./attempt.ts";
import type { ClaimedDelivery } from "./delivery.ts";
import { deliveryPool } from "./delivery-pool.ts";

export type Done = { delivery: ClaimedDelivery; step: Step };

/** Records the results of claimed deliveries. If another worker has taken a claim over, nothing is recorded for it: that worker does so. */
export async function recordDeliveries(all: readonly Done[]): Promise<void> {
  if (all.length === 0) return;
  try {
    await recordClaimed(all, async (text, values) => deliveryPool().query({ name: "delivery-record", text, values }));
    return;
  } catch (error) {
    if (!isClaimLost(error)) throw error;
  }
  const { rows } = await deliveryPool().query<{ id: string }>(
    "select q.id from unnest($1::text[], $2::text[]) as g(id, claim_id) join delivery_queue q using (id, claim_id)",
    [all.map(({ delivery }) => delivery.id), all.map(({ delivery }) => delivery.claimId)],
  );
  const kept = new Set(rows.map(({ id }) => id));
  const ours = all.filter(({ delivery }) => kept.has(delivery.id));
  // There must be fewer each time, or the statement is wrong.
  if (ours.length === all.length) throw new Error("deliveries under our claim cannot be recorded");
  await recordDeliveries(ours);
}

/**
 * The same in one statement, all or nothing: the row of the queue, the delivery, the attempt, its storage, the hourly counts,
 * since when the webhook fails, and the replay that it is part of (S122).
 * @throws an error recognized by `isClaimLost` if one of the claims is no longer ours
 */
export async function recordClaimed(
  all: readonly Done[],
  query: (text: string, values: unknown[]) => Promise<unknown>,
): Promise<void> {
  await query(RECORD, valuesOf(all));
}

/** The statement aborts itself by a division by zero if it finds fewer claims than it was given. */
export const isClaimLost = (error: unknown): boolean => databaseCodes(error).includes("22012");

/**
 * An error unrelated to the data, which the next try may not meet: a deadlock with a change of the webhook, or no lock, memory
 * or connection available, from Postgres or Prisma.
 */
export const isPassing = (error: unknown): boolean =>
  databaseCodes(error).some((code) => typeof code === "string" && /^(40...|53...|55P03|P2024|P2028|P2034)$/.test(code));

/** The sum of two arrays, written out: unnesting them would take most of the statement's time. */
const ADDED = `array[${Array.from({ length: LATENCY_BUCKETS }, (_, at) => `coalesce(h.latencies[${at + 1}], 0) + excluded.latencies[${at + 1}]`)}]`;

const RECORD = `
with given as materialized (
  select * from json_to_recordset($1::json) as g(
    id text, claim_id text, is_attempt boolean, is_over boolean, seconds float8, tries int, is_tried boolean, state text,
    webhook_id text, owner_id text, host text, attempt_id text, kind text, started_at timestamptz, outcome text, reason text, url text,
    signature text, status int, headers json, body text, is_cut boolean, is_reused boolean, dns_ms int, connect_ms int, tls_ms int,
    first_byte_ms int, total_ms int, job_run_id text)
), over as (
  delete from delivery_queue q using given g
  where q.id = g.id and q.claim_id = g.claim_id and g.is_over
  returning q.id
), again as (
  update delivery_queue q
  set due_at = case when g.seconds is null then 'infinity' else now() + make_interval(secs => g.seconds) end,
    tries = g.tries, host = g.host, claim_id = null, claimed_until = null,
    kind = case when g.is_tried then 'retry' else q.kind end,
    lane = case when (g.is_tried and g.seconds is distinct from 0) or q.lane = ${lanes.backlog} then ${lanes.again} else q.lane end
  from given g
  where q.id = g.id and q.claim_id = g.claim_id and not g.is_over
  returning q.id, nullif(q.due_at, 'infinity') as due_at
), mine as materialized (
  select id, null::timestamptz as due_at from over union all select id, due_at from again
), told as (
  update delivery d
  set state = g.state, attempts = d.attempts + 1, last_outcome = g.outcome, last_status = g.status, last_duration_ms = g.total_ms,
    finished_at = case when g.is_over then now() end
  from given g join mine on mine.id = g.id
  where d.id = g.id and g.is_attempt
  returning d.id, d.attempts, mine.due_at
), unsendable as (
  update delivery d set state = 'failed', finished_at = now()
  from given g join mine on mine.id = g.id
  where d.id = g.id and g.is_over and not g.is_attempt and d.state = 'waiting'
), kept as (
  insert into attempt (id, delivery_id, webhook_id, owner_id, number, kind, started_at, outcome, reason, url, signature, status,
    response_headers, response_body, is_body_cut, is_reused, dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, next_due_at, job_run_id)
  select g.attempt_id, g.id, g.webhook_id, g.owner_id, told.attempts, g.kind, g.started_at, g.outcome, g.reason, g.url, g.signature,
    g.status, g.headers, decode(g.body, 'base64'), coalesce(g.is_cut, false), coalesce(g.is_reused, false), g.dns_ms, g.connect_ms, g.tls_ms,
    g.first_byte_ms, g.total_ms, told.due_at, g.job_run_id
  from given g join told on told.id = g.id
), stored as (
  insert into storage_use as s (owner_id, kind, part, bytes)
  select c.owner_id, 'attempts', c.day, c.bytes from json_to_recordset($7::json) as c(owner_id text, day text, bytes bigint)
  on conflict (owner_id, kind, part) do update set bytes = s.bytes + excluded.bytes
), hours as (
  insert into webhook_hour as h (webhook_id, hour, delivered, failed, latencies)
  select c.webhook_id, date_trunc('hour', now(), 'UTC'), c.delivered, c.failed, c.latencies
  from json_to_recordset($2::json) as c(webhook_id text, delivered int, failed int, latencies int[])
  on conflict (webhook_id, hour) do update set delivered = h.delivered + excluded.delivered, failed = h.failed + excluded.failed,
    latencies = case when excluded.latencies is null then h.latencies else ${ADDED} end
), health as (
  update webhook w set failing_since = case when c.fails then now() end
  from json_to_recordset($3::json) as c(id text, fails boolean)
  where w.id = c.id and c.fails = (w.failing_since is null)
), replays as (
  update webhook_replay p set delivered = p.delivered + c.delivered, failed = p.failed + c.failed
  from json_to_recordset($4::json) as c(id text, delivered int, failed int)
  where p.id = c.id
)
select 1 / (case when (select count(*) from mine) = $5 then 1 else 0 end) as id, count(pg_notify('${ACTIVITY_CHANNEL}', webhook_id))
from unnest($6::text[]) as webhook_id`;

function valuesOf(all: readonly Done[]): unknown[] {
  const rows = all.map(rowOf);
  const attempted = all.flatMap(({ delivery, step }) => (step.step === "attempted" ? [{ delivery, ...step }] : []));
  const notified = [...new Set(attempted.map(({ delivery }) => delivery.webhookId))];
  return [
    JSON.stringify(rows),
    JSON.stringify(hoursOf(attempted)),
    JSON.stringify(healthOf(attempted)),
    JSON.stringify(replaysOf(attempted)),
    all.length,
    notified,
    JSON.stringify(storedOf(attempted)),
  ];
}

function rowOf({ delivery, step }: Done) {
  const { id, claimId: claim_id, webhookId: webhook_id, ownerId: owner_id, kind, tries, webhook } = delivery;
  // The URL may have changed since it was queued.
  const host = targetHost(webhook?.url ?? null);
  const row = { id, claim_id, webhook_id, owner_id, kind, tries, host, is_tried: false };
  if (step.step === "dropped") return { ...row, is_attempt: false, is_over: true };
  if (step.step === "postponed") return { ...row, is_attempt: false, is_over: false, seconds: secondsOf(step.seconds) };
  const { attempt, decision } = step;
  const { answer } = attempt;
  return {
    ...row,
    is_attempt: true,
    is_over: decision.again === null,
    is_tried: true,
    state: decision.state,
    seconds: secondsOf(decision.again?.seconds ?? 0),
    tries: decision.again?.tries ?? tries,
    attempt_id: newOrderedId(attempt.startedAt.getTime()),
    started_at: attempt.startedAt,
    outcome: attempt.outcome,
    reason: attempt.reason,
    url: attempt.url,
    signature: attempt.signature,
    total_ms: attempt.totalMs,
    job_run_id: attempt.jobRunId,
    ...(answer && {
      status: answer.status,
      headers: answer.headers,
      body: Buffer.from(answer.body).toString("base64"),
      is_cut: answer.isCut,
      is_reused: answer.isReused,
      dns_ms: answer.timings.dnsMs,
      connect_ms: answer.timings.connectMs,
      tls_ms: answer.timings.tlsMs,
      first_byte_ms: answer.timings.firstByteMs,
    }),
  };
}

const secondsOf = (seconds: number | "held") => (seconds === "held" ? null : seconds);

type Attempted = { delivery: ClaimedDelivery; attempt: Attempt; decision: Decision };

/** By id: every worker locks the rows in this order. */
const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

/** What is added to each webhook's hourly counts; a withheld attempt reached nobody and is not counted. */
function hoursOf(attempted: readonly Attempted[]) {
  const hours = new Map<
    string,
    { id: string; webhook_id: string; delivered: number; failed: number; latencies: number[] | null }
  >();
  for (const { delivery, attempt, decision } of attempted) {
    if (!decision.health) continue;
    const id = delivery.webhookId;
    const hour = hours.get(id) ?? { id, webhook_id: id, delivered: 0, failed: 0, latencies: null };
    hours.set(id, hour);
    if (decision.health === "works") hour.delivered++;
    else hour.failed++;
    if (!attempt.answer) continue;
    hour.latencies ??= new Array<number>(LATENCY_BUCKETS).fill(0);
    const bucket = latencyBucket(attempt.totalMs);
    hour.latencies[bucket] = (hour.latencies[bucket] ?? 0) + 1;
  }
  return [...hours.values()].sort(byId);
}

/**
 * Whether each webhook works or fails. The statement itself finds the few that start or stop failing: their state at the claim
 * may be long out of date.
 */
function healthOf(attempted: readonly Attempted[]) {
  const fails = new Map<string, boolean>();
  for (const { delivery, decision } of attempted) {
    if (!decision.health) continue;
    // A successful delivery shows that not every attempt fails.
    const isFailing = decision.health === "fails" && fails.get(delivery.webhookId) !== false;
    fails.set(delivery.webhookId, isFailing);
  }
  return [...fails].map(([id, is]) => ({ id, fails: is })).sort(byId);
}

/** Responses count as storage of the webhooks' owners, by the day of the attempt, with which they are deleted (core/storage). */
function storedOf(attempted: readonly Attempted[]) {
  const stored = new Map<string, { id: string; owner_id: string; day: string; bytes: number }>();
  for (const { delivery, attempt } of attempted) {
    const bytes = attempt.answer ? attempt.answer.body.byteLength + Buffer.byteLength(JSON.stringify(attempt.answer.headers)) : 0;
    if (bytes === 0) continue;
    const day = attempt.startedAt.toISOString().slice(0, 10);
    const id = `${delivery.ownerId} ${day}`;
    const found = stored.get(id) ?? { id, owner_id: delivery.ownerId, day, bytes: 0 };
    stored.set(id, found);
    found.bytes += bytes;
  }
  return [...stored.values()].sort(byId);
}

function replaysOf(attempted: readonly Attempted[]) {
  const replays = new Map<string, { id: string; delivered: number; failed: number }>();
  for (const { delivery, decision } of attempted) {
    if (delivery.replayId === null || decision.again) continue;
    const replay = replays.get(delivery.replayId) ?? { id: delivery.replayId, delivered: 0, failed: 0 };
    replays.set(replay.id, replay);
    if (decision.state === "delivered") replay.delivered++;
    else replay.failed++;
  }
  return [...replays.values()].sort(byId);
}
