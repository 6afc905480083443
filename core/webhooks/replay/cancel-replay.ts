import type { Actor } from "../../access/actor.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { findWebhookRow } from "../activity/find-webhook-row.ts";
import { ACTIVITY_CHANNEL } from "../vocabulary.ts";
import { REPLAY_CHANNEL, type ReplayRow, toReplay, type WebhookReplay } from "./webhook-replay.ts";

/**
 * Ends a replay: its waiting deliveries are taken out of the queue and get their former state back. An attempt under way is
 * completed. Cancelling a finished replay changes nothing.
 * @throws ServiceError `not_found`
 */
export async function cancelReplay(
  actor: Actor,
  webhookId: string,
  replayId: string,
  { ownerId }: { ownerId?: string | undefined } = {},
): Promise<WebhookReplay> {
  await findWebhookRow(actor, webhookId, "webhook.manage", { ownerId });
  if (!isId(replayId)) throw notFound("Replay");
  return db().$transaction(async (tx) => {
    await takeOutOfQueue(tx, replayId, webhookId);
    const [row] = await tx.$queryRaw<ReplayRow[]>`
      UPDATE webhook_replay SET cancelled_at = CASE WHEN finished_at IS NULL THEN coalesce(cancelled_at, now()) ELSE cancelled_at END, due_at = now()
      WHERE id = ${replayId} AND webhook_id = ${webhookId} RETURNING *`;
    if (!row) throw notFound("Replay");
    await tx.$executeRaw`SELECT pg_notify(${REPLAY_CHANNEL}, ''), pg_notify(${ACTIVITY_CHANNEL}, ${webhookId})`;
    return toReplay(row);
  });
}

/** Takes a replay's deliveries that are not being sent out of the queue; they get their former state back from the recorded attempts. */
export async function takeOutOfQueue(tx: Db, replayId: string, webhookId: string): Promise<void> {
  await tx.$executeRaw`
    WITH waiting AS MATERIALIZED (
      SELECT id FROM delivery_queue
      WHERE replay_id = ${replayId} AND webhook_id = ${webhookId} AND (claimed_until IS NULL OR claimed_until <= now())
      ORDER BY id FOR UPDATE SKIP LOCKED
    ), taken AS (
      DELETE FROM delivery_queue q USING waiting w WHERE q.id = w.id RETURNING q.id
    )
    UPDATE delivery d SET finished_at = now(), state = CASE
        WHEN d.attempts = 0 THEN 'rate_limited' WHEN d.last_outcome IN ('delivered', 'withheld') THEN d.last_outcome ELSE 'failed' END
    FROM taken t WHERE d.id = t.id AND d.state = 'waiting'`;
}
