import type { Actor } from "../../access/actor.ts";
import { actorId, clientIdOf } from "../../access/actor.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { visibleTo } from "../activity/delivery-conditions.ts";
import { findWebhookRow } from "../activity/find-webhook-row.ts";
import { type AwaitedAttempt, awaitAttempt } from "./await-attempt.ts";
import { putIntoQueue } from "./put-into-queue.ts";
import { requireReplayable } from "./require-replayable.ts";

/** A delivery sent on request; without `attempt` it was not sent in time, and is still waiting. */
export type Sent = { deliveryId: string; attempt: AwaitedAttempt | undefined };

export type WaitOptions = { ownerId?: string | undefined; waitMs?: number | undefined; signal?: AbortSignal | undefined };

/** For each webhook: far more than anybody clicks, and too few to get around the limit of triggers. */
const REPLAYS = { limit: 120, windowSeconds: 60 };

/**
 * Sends a delivery again, whatever its state, to the webhook's current target and signed with its current secret: the same
 * bytes under the same `webhook-id` (S124). A waiting one is sent at once. If it fails, it is retried like a new one.
 *
 * It returns when the attempt is recorded, or after twenty seconds without it: then the delivery stays in the queue, and
 * another call waits for the same attempt.
 * @throws ServiceError `not_found`; `conflict` for a disabled webhook; `gone` if its content is no longer kept; `rate_limited`
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
  return { deliveryId, attempt: await awaitAttempt({ id: deliveryId, webhookId: webhook.id }, before, wait) };
}

type Row = { eventId: string; kind: "replay" | "test" };

async function readDeliveryRow(tx: Db, webhookId: string, deliveryId: string): Promise<Row> {
  // A resent test stays a test: a single attempt.
  const [row] = await tx.$queryRaw<(Row & { isKept: boolean })[]>`
    SELECT d.event_id AS "eventId", CASE d.kind WHEN 'test' THEN 'test' ELSE 'replay' END AS kind,
      EXISTS (SELECT FROM event e WHERE e.id = d.event_id) AS "isKept"
    FROM delivery d WHERE d.id = ${deliveryId} AND d.webhook_id = ${webhookId}`;
  if (!row) throw notFound("Delivery");
  if (!row.isKept) throw new ServiceError("gone", "What this delivery said is not kept any more: it cannot be sent again.");
  return { eventId: row.eventId, kind: row.kind };
}
