import { newOrderedId } from "../../ids.ts";
import { ATTEMPT_BYTES } from "../../storage/limits.ts";
import { LATENCY_BUCKETS, latencyBucket } from "../latency-buckets.ts";
import { targetHost } from "../target-host.ts";
import type { Attempt, ClaimedDelivery, Decision, Done, EventLease, OverLimit } from "./delivery.ts";

export function recordedValues(all: readonly Done[], ended: readonly EventLease[]): unknown[] {
  const attempted = all.flatMap(({ delivery, step }) => (step.step === "attempted" ? [{ delivery, ...step }] : []));
  return [
    JSON.stringify(all.map(rowOf)),
    JSON.stringify(hoursOf(all, ended)),
    JSON.stringify(healthOf(attempted)),
    JSON.stringify(replaysOf(attempted)),
    all.length + ended.length,
    JSON.stringify(storedOf(attempted)),
    JSON.stringify(
      ended.map(({ id, claimId: claim_id, cursor, error }) => ({
        id,
        claim_id,
        cursor: error === null ? cursor : null,
        error: withoutNul(error),
      })),
    ),
    [...new Set([...all.flatMap(({ delivery }) => delivery.lease?.id ?? []), ...ended.map(({ id }) => id)])],
    [...new Set(attempted.map(({ delivery }) => delivery.webhookId))],
    all.map(({ delivery }) => delivery.id),
  ];
}

const withoutNul = (text: string | null) => text?.replaceAll("\0", "").slice(0, 1_000) ?? null;

function rowOf({ delivery, step }: Done) {
  const { id, claimId, webhookId: webhook_id, ownerId: owner_id, kind, tries, webhook, lease } = delivery;
  // The URL may have changed since it was queued.
  const host = targetHost(webhook?.url ?? null);
  const leased = lease && { event_id: lease.id, repo_name: lease.repoName };
  const row = {
    ...{ id, claim_id: lease?.claimId ?? claimId, webhook_id, owner_id, kind, tries, host, is_tried: false },
    ...{ state: "waiting", ...leased },
  };
  if (step.step === "rate_limited") return { ...row, is_attempt: false, is_over: true, state: step.step };
  if (step.step === "sending") return { ...row, is_attempt: false, is_over: false, is_sending: true, seconds: 0 };
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

/** Every worker locks the rows in this order. */
const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

type Hour = {
  id: string;
  webhook_id: string;
  hour: string | null;
  delivered: number;
  failed: number;
  latencies: number[] | null;
  rate_limited: number;
  by_outsiders: number;
};

/** An attempt that says nothing about the webhook is not counted. */
function hoursOf(all: readonly Done[], ended: readonly EventLease[]) {
  const hours = new Map<string, Hour>();
  const hourOf = (webhook_id: string, hour: string | null): Hour => {
    const id = `${webhook_id} ${hour ?? ""}`;
    const none = { delivered: 0, failed: 0, latencies: null, rate_limited: 0, by_outsiders: 0 };
    const found = hours.get(id) ?? { id, webhook_id, hour, ...none };
    hours.set(id, found);
    return found;
  };
  const takeBack = (webhookId: string, over: OverLimit) => {
    const hour = hourOf(webhookId, over.hour);
    hour.rate_limited++;
    if (over.isByOutsider) hour.by_outsiders++;
  };
  // An event that is set aside may be tried again, so its triggers must stay counted.
  const complete = ended.filter(({ error }) => error === null);
  for (const { webhookId, ...over } of complete.flatMap(({ onlyCounted }) => onlyCounted)) takeBack(webhookId, over);
  for (const { delivery, step } of all) {
    if (step.step === "rate_limited") takeBack(delivery.webhookId, step.over);
    if (step.step !== "attempted" || !step.decision.health) continue;
    const hour = hourOf(delivery.webhookId, null);
    if (step.decision.health === "works") hour.delivered++;
    else hour.failed++;
    if (!step.attempt.answer) continue;
    hour.latencies ??= new Array<number>(LATENCY_BUCKETS).fill(0);
    const bucket = latencyBucket(step.attempt.totalMs);
    hour.latencies[bucket] = (hour.latencies[bucket] ?? 0) + 1;
  }
  return [...hours.values()].sort(byId);
}

/** The statement decides which webhooks change, because the state at the claim may be out of date. */
function healthOf(attempted: readonly Attempted[]) {
  const fails = new Map<string, boolean>();
  for (const { delivery, decision } of attempted) {
    if (!decision.health) continue;
    const isFailing = decision.health === "fails" && fails.get(delivery.webhookId) !== false;
    fails.set(delivery.webhookId, isFailing);
  }
  return [...fails].map(([id, is]) => ({ id, fails: is })).sort(byId);
}

/** Attempts are counted by day, because they are deleted by day. */
function storedOf(attempted: readonly Attempted[]) {
  const stored = new Map<string, { id: string; owner_id: string; day: string; bytes: number }>();
  for (const { delivery, attempt } of attempted) {
    const { answer, url } = attempt;
    const ofAnswer = answer ? answer.body.byteLength + Buffer.byteLength(JSON.stringify(answer.headers)) : 0;
    const bytes = ATTEMPT_BYTES + Buffer.byteLength(url ?? "") + ofAnswer;
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
