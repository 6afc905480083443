import { setTimeout as delay } from "node:timers/promises";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db, pool } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { joinFeed } from "../activity/activity-feed.ts";
import { visibleTo } from "../activity/delivery-conditions.ts";
import { findWebhookRow } from "../manage/find-webhook.ts";
import { targetHost } from "../target-host.ts";
import { ACTIVITY_CHANNEL, type AttemptKind, type AttemptOutcome, DELIVERY_CHANNEL, lanes } from "../vocabulary.ts";

export type Sent = { deliveryId: string; attempt: AwaitedAttempt | undefined };

export type WaitOptions = { ownerId?: string | undefined; waitMs?: number | undefined; signal?: AbortSignal | undefined };

/** The limit for one webhook, which only programs reach. */
const REPLAYS = { limit: 120, windowSeconds: 60 };

/**
 * A replay sends the same bytes under the same `webhook-id` (S124). If no attempt is recorded, this returns after twenty seconds,
 * or at once if too many calls wait.
 */
export async function replayDelivery(
  actor: Actor,
  webhookId: string,
  deliveryId: string,
  from: RequestOrigin,
  { ownerId, ...wait }: WaitOptions = {},
): Promise<Sent> {
  const webhook = await findWebhookRow(actor, webhookId, "webhook.manage", { ownerId });
  if (!isId(deliveryId) || !(await visibleTo(actor, [deliveryId])).has(deliveryId)) throw notFound("Delivery");
  await consumeThrottle(throttleKey("webhook replay", webhook.id), REPLAYS);
  const before = await db().$transaction(async (tx) => {
    const current = await findWebhookRow(actor, webhookId, "webhook.manage", { ownerId, tx });
    requireReplayable(current);
    const delivery = await readDeliveryRow(tx, webhook.id, deliveryId);
    const attempts = await putIntoQueue(tx, { webhook: current, deliveryId, ...delivery });
    await recordAuditEvent(tx, {
      type: "webhook.replay",
      actorId: actorId(actor),
      clientId: clientIdOf(actor),
      orgId: webhook.ownerKind === "organization" ? webhook.ownerId : null,
      data: { webhookId: webhook.id, deliveryId, count: 1 },
      from,
    });
    return attempts;
  });
  return { deliveryId, attempt: await awaitAttempt({ ...webhook, deliveryId }, before, wait) };
}

type Row = { eventId: string; kind: "replay" | "test" };

async function readDeliveryRow(tx: Db, webhookId: string, deliveryId: string): Promise<Row> {
  // A test that is sent again is still a test, which gets a single attempt.
  const [row] = await tx.$queryRaw<(Row & { isKept: boolean })[]>`
    SELECT d.event_id AS "eventId", CASE d.kind WHEN 'test' THEN 'test' ELSE 'replay' END AS kind,
      EXISTS (SELECT FROM event e WHERE e.id = d.event_id) AS "isKept"
    FROM delivery d WHERE d.id = ${deliveryId} AND d.webhook_id = ${webhookId}`;
  if (!row) throw notFound("Delivery");
  if (!row.isKept) throw new ServiceError("gone", "The content of this delivery is no longer stored, so it cannot be replayed.");
  return { eventId: row.eventId, kind: row.kind };
}

type Queued = {
  webhook: { id: string; ownerId: string; url: string | null };
  deliveryId: string;
  eventId: string;
  kind: Extract<AttemptKind, "replay" | "test">;
};

/**
 * A waiting delivery is brought forward. A delivery in progress does not change.
 * @returns the number of attempts before this one
 */
export async function putIntoQueue(tx: Db, { webhook, deliveryId, eventId, kind }: Queued): Promise<number> {
  await tx.$executeRaw`
    INSERT INTO delivery_queue AS q (id, webhook_id, owner_id, event_id, host, kind, lane)
    VALUES (${deliveryId}, ${webhook.id}, ${webhook.ownerId}, ${eventId}, ${targetHost(webhook.url)}, ${kind}, ${lanes.waitedFor})
    ON CONFLICT (id) DO UPDATE SET lane = excluded.lane, due_at = now(), host = excluded.host,
      kind = CASE WHEN q.kind = 'retry' THEN excluded.kind ELSE q.kind END
      WHERE q.claimed_until IS NULL OR q.claimed_until <= now()`;
  await tx.$executeRaw`
    UPDATE delivery SET state = 'waiting', finished_at = NULL
    WHERE id = ${deliveryId} AND state <> 'waiting' AND EXISTS (SELECT FROM delivery_queue q WHERE q.id = ${deliveryId})`;
  await tx.$executeRaw`SELECT pg_notify(${DELIVERY_CHANNEL}, ''), pg_notify(${ACTIVITY_CHANNEL}, ${webhook.id})`;
  // The caller waits for a later attempt than those counted here.
  const [row] = await tx.$queryRaw<{ attempts: number }[]>`SELECT attempts FROM delivery WHERE id = ${deliveryId}`;
  return row?.attempts ?? 0;
}

type AwaitedAttempt = {
  outcome: AttemptOutcome;
  status: number | null;
  reason: string | null;
  durationMs: number | null;
};

/** An attempt takes at most 15 seconds (S120). The rest is for a worker to find the delivery. */
const ATTEMPT_WAIT_MS = 20_000;
const POLL_MS = 1_000;
/** Each waiting call reads the database every second, so the calls of one owner are limited (S137). */
const WAITING_MAX = 50;
const waiting = new Map<string, number>();

/**
 * @param before the number of attempts that the delivery had
 * @returns undefined if the delivery still waits to be sent
 */
export async function awaitAttempt(
  of: { id: string; ownerId: string; deliveryId: string },
  before: number,
  options: { waitMs?: number | undefined; signal?: AbortSignal | undefined } = {},
): Promise<AwaitedAttempt | undefined> {
  const others = waiting.get(of.ownerId) ?? 0;
  if (others >= WAITING_MAX) return undefined;
  waiting.set(of.ownerId, others + 1);
  try {
    return await pollAttempt(of, before, options);
  } finally {
    const left = (waiting.get(of.ownerId) ?? 1) - 1;
    if (left > 0) waiting.set(of.ownerId, left);
    else waiting.delete(of.ownerId);
  }
}

async function pollAttempt(
  { id: webhookId, deliveryId }: { id: string; deliveryId: string },
  before: number,
  { waitMs = ATTEMPT_WAIT_MS, signal }: { waitMs?: number | undefined; signal?: AbortSignal | undefined },
): Promise<AwaitedAttempt | undefined> {
  const over = AbortSignal.any([AbortSignal.timeout(waitMs), ...(signal ? [signal] : [])]);
  let wake: () => void = () => undefined;
  const { leave } = await joinFeed(webhookId, () => wake());
  try {
    while (true) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const attempt = await latestAttempt(deliveryId, before);
      if (attempt || over.aborted) return attempt;
      await Promise.race([changed, delay(POLL_MS, undefined, { signal: over }).catch(() => undefined)]);
    }
  } finally {
    leave();
  }
}

type AttemptRow = { outcome: AttemptOutcome; status: number | null; reason: string | null; duration_ms: number | null };

// If a reused connection had just closed, another attempt follows at once, and that attempt is the result.
async function latestAttempt(deliveryId: string, before: number): Promise<AwaitedAttempt | undefined> {
  const { rows } = await pool().query<AttemptRow>({
    name: "awaited-attempt",
    text: `SELECT d.last_outcome AS outcome, d.last_status AS status, d.last_duration_ms AS duration_ms, (
             SELECT a.reason FROM attempt a WHERE a.delivery_id = d.id AND a.number = d.attempts ORDER BY a.id DESC LIMIT 1) AS reason
           FROM delivery d WHERE d.id = $1 AND d.attempts > $2
             AND NOT (d.last_status IS NULL AND EXISTS (SELECT FROM delivery_queue q WHERE q.id = d.id AND q.due_at <= now()))`,
    values: [deliveryId, before],
  });
  const [row] = rows;
  return row && { outcome: row.outcome, status: row.status, reason: row.reason, durationMs: row.duration_ms };
}

/** A disabled webhook sends only tests, so the caller would wait in vain. */
export function requireReplayable({ disabledAt }: { disabledAt: Date | null }): void {
  if (disabledAt) throw new ServiceError("conflict", "The webhook is disabled. Enable it before you replay.");
}
