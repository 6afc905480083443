import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation } from "../../access/delegation.ts";
import { readableEvent } from "../../access/readable-owners.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db, inTransaction, pool } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { firstIdAt, isId, newOrderedId } from "../../ids.ts";
import { readableTo, visibleTo } from "../activity/delivery-conditions.ts";
import { findWebhookRow } from "../manage/find-webhook.ts";
import { ACTIVITY_CHANNEL } from "../vocabulary.ts";
import { requireReplayable } from "./replay-delivery.ts";
import {
  FAILED_MAX,
  REPLAY_CHANNEL,
  type ReplayRow,
  RUNNING_MAX,
  SELECTED_MAX,
  toReplay,
  type WebhookReplay,
} from "./webhook-replay.ts";

type WhatToReplay = { deliveryIds: readonly string[] } | { since: Date; until?: Date | undefined };

/** The replay is recorded when this function returns. Waiting deliveries do not change. */
export async function startReplay(
  actor: Actor,
  webhookId: string,
  what: WhatToReplay,
  from: RequestOrigin,
  { ownerId }: { ownerId?: string | undefined } = {},
): Promise<WebhookReplay> {
  const webhook = await findWebhookRow(actor, webhookId, "webhook.manage", { ownerId });
  return inTransaction(async (tx) => {
    // The lock makes concurrent calls wait for each other, so that each replay is counted.
    await tx.$queryRaw`SELECT 1 FROM webhook WHERE id = ${webhook.id} FOR NO KEY UPDATE`;
    requireReplayable(await findWebhookRow(actor, webhookId, "webhook.manage", { ownerId, tx }));
    await requireRoom(tx, webhook.id);
    const scope =
      "deliveryIds" in what
        ? await selected(tx, webhook.id, [...(await visibleTo(actor, what.deliveryIds.filter(isId), tx))])
        : await visibleFailed(tx, actor, webhook.id, await failed(tx, webhook.id, what));
    const [row] = await tx.$queryRaw<ReplayRow[]>`
      INSERT INTO webhook_replay (id, webhook_id, owner_id, created_by_id, delegation_id, delivery_ids, since, until, total)
      VALUES (${newOrderedId()}, ${webhook.id}, ${webhook.ownerId}, ${actorId(actor)}, ${await recordDelegation(tx, actor)}, ${scope.ids}, ${scope.since}, ${scope.until}, ${scope.total})
      RETURNING *`;
    await tx.$executeRaw`SELECT pg_notify(${REPLAY_CHANNEL}, '')`;
    await recordAuditEvent(tx, {
      type: "webhook.replay",
      actorId: actorId(actor),
      clientId: clientIdOf(actor),
      orgId: webhook.ownerKind === "organization" ? webhook.ownerId : null,
      data: { webhookId: webhook.id, replayId: row?.id ?? "", count: scope.total },
      from,
    });
    return toReplay(row as ReplayRow);
  });
}

async function requireRoom(tx: Db, webhookId: string): Promise<void> {
  const running = await tx.webhookReplay.count({ where: { webhookId, finishedAt: null } });
  if (running >= RUNNING_MAX) {
    const sentence = `${RUNNING_MAX} replays of this webhook are running. Wait for one to finish, or cancel one.`;
    throw new ServiceError("rate_limited", sentence, { retryAfterSeconds: 30 });
  }
}

type Scope = { ids: string[]; since: Date | null; until: Date | null; total: number };

async function selected(tx: Db, webhookId: string, given: readonly string[]): Promise<Scope> {
  const ids = [...new Set(given)];
  if (ids.length === 0 || ids.length > SELECTED_MAX || !ids.every(isId)) {
    throw new ServiceError("invalid_request", `Select 1 to ${SELECTED_MAX.toLocaleString("en")} deliveries.`, {
      field: "deliveries",
    });
  }
  // Missing deliveries and other webhooks' deliveries get the same response (S136).
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT d.id FROM delivery d WHERE d.id = ANY (${ids}) AND d.webhook_id = ${webhookId} AND d.state <> 'waiting' ORDER BY d.id`;
  if (rows.length === 0) {
    throw new ServiceError("conflict", "None of these can be replayed: they are waiting to be sent, or are no longer stored.");
  }
  return { ids: rows.map(({ id }) => id), since: null, until: null, total: rows.length };
}

async function visibleFailed(tx: Db, actor: Actor, webhookId: string, scope: Scope): Promise<Scope> {
  const readable = await readableTo(actor, tx);
  if (readable === null) return scope;
  const visible = await tx.$queryRaw<{ id: string }[]>`
    SELECT d.id FROM delivery d JOIN event e ON e.id = d.event_id LEFT JOIN repo r ON r.id = e.repo_id
    WHERE d.webhook_id = ${webhookId} AND d.state = 'failed' AND d.id >= ${firstIdAt(scope.since as Date)}
      AND d.id < ${firstIdAt(scope.until as Date)} AND ${readableEvent(readable)} ORDER BY d.id LIMIT ${scope.total}`;
  if (visible.length === scope.total) return scope;
  return selected(
    tx,
    webhookId,
    visible.map(({ id }) => id),
  );
}

async function failed(tx: Db, webhookId: string, { since, until }: { since: Date; until?: Date | undefined }): Promise<Scope> {
  const now = new Date();
  // The end is fixed, so that the replay does not include its own failures.
  const end = until && until < now ? until : now;
  if (!(since < end) || since.getTime() < 0) {
    throw new ServiceError("invalid_request", "Choose a beginning that is in the past and before the end.", { field: "since" });
  }
  const [row] = await tx.$queryRaw<{ total: number }[]>`
    SELECT count(*)::int AS total FROM (
      SELECT FROM delivery d WHERE d.webhook_id = ${webhookId} AND d.state = 'failed'
        AND d.id >= ${firstIdAt(since)} AND d.id < ${firstIdAt(end)} LIMIT ${FAILED_MAX + 1}) f`;
  const total = row?.total ?? 0;
  if (total === 0) throw new ServiceError("conflict", "No deliveries failed in this period, so there is nothing to replay.");
  if (total > FAILED_MAX) {
    const sentence = `More than ${FAILED_MAX.toLocaleString("en")} deliveries failed in this period. Choose a shorter period.`;
    throw new ServiceError("invalid_request", sentence, { field: "since" });
  }
  return { ids: [], since, until: end, total };
}

/** An attempt in progress is completed. */
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

type Of = { ownerId?: string | undefined };

export async function readReplay(actor: Actor, webhookId: string, replayId: string, of: Of = {}): Promise<WebhookReplay> {
  await findWebhookRow(actor, webhookId, "webhook.read", of);
  if (!isId(replayId)) throw notFound("Replay");
  const { rows } = await pool().query<ReplayRow>("SELECT * FROM webhook_replay WHERE id = $1 AND webhook_id = $2", [
    replayId,
    webhookId,
  ]);
  if (!rows[0]) throw notFound("Replay");
  return toReplay(rows[0]);
}

const REPLAYS_SHOWN = 20;

export async function listReplays(actor: Actor, webhookId: string, of: Of = {}): Promise<WebhookReplay[]> {
  await findWebhookRow(actor, webhookId, "webhook.read", of);
  const { rows } = await pool().query<ReplayRow>(
    `SELECT * FROM webhook_replay WHERE webhook_id = $1 ORDER BY id DESC LIMIT ${REPLAYS_SHOWN}`,
    [webhookId],
  );
  return rows.map(toReplay);
}
