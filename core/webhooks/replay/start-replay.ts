import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation } from "../../access/delegation.ts";
import { readableEvent } from "../../access/readable-owners.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { firstIdAt, isId, newOrderedId } from "../../ids.ts";
import { readableTo, visibleTo } from "../activity/delivery-conditions.ts";
import { findWebhookRow } from "../activity/find-webhook-row.ts";
import { requireReplayable } from "./require-replayable.ts";
import {
  FAILED_MAX,
  REPLAY_CHANNEL,
  type ReplayRow,
  RUNNING_MAX,
  SELECTED_MAX,
  toReplay,
  type WebhookReplay,
} from "./webhook-replay.ts";

/** Named deliveries, or all that failed since a time. */
export type WhatToReplay = { deliveryIds: readonly string[] } | { since: Date; until?: Date | undefined };

/**
 * Has many deliveries sent again. The work is recorded when this returns; the worker does it, and `readReplay` shows its
 * progress. A delivery that is already waiting is left unchanged.
 * @throws ServiceError `not_found`; `conflict` for a disabled webhook, or if there is nothing to replay; `invalid_request`;
 * `rate_limited` if too many replays of the webhook are running
 */
export async function startReplay(
  actor: Actor,
  webhookId: string,
  what: WhatToReplay,
  from: RequestOrigin,
  { ownerId }: { ownerId?: string | undefined } = {},
): Promise<WebhookReplay> {
  const webhook = await findWebhookRow(actor, webhookId, "webhook.manage", { ownerId });
  return inTransaction(async (tx) => {
    // One after another, so that they can be counted.
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
    const sentence = `${RUNNING_MAX} replays of this webhook are running. Wait for one of them, or cancel it.`;
    throw new ServiceError("rate_limited", sentence, { retryAfterSeconds: 30 });
  }
}

type Scope = { ids: string[]; since: Date | null; until: Date | null; total: number };

async function selected(tx: Db, webhookId: string, given: readonly string[]): Promise<Scope> {
  const ids = [...new Set(given)];
  if (ids.length === 0 || ids.length > SELECTED_MAX || !ids.every(isId)) {
    throw new ServiceError("invalid_request", `Name between 1 and ${SELECTED_MAX} deliveries.`, { field: "deliveries" });
  }
  // A missing delivery or another webhook's is not distinguished from one that was meanwhile dropped with its day (S136).
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT d.id FROM delivery d WHERE d.id = ANY (${ids}) AND d.webhook_id = ${webhookId} AND d.state <> 'waiting' ORDER BY d.id`;
  if (rows.length === 0) {
    throw new ServiceError("conflict", "None of these can be replayed: they wait to be sent, or are not kept any more.");
  }
  return { ids: rows.map(({ id }) => id), since: null, until: null, total: rows.length };
}

/** A token that may not see all failed deliveries replays those that it sees, by name. */
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
  // A fixed end: later failures are not included, so that the replay does not chase itself.
  const end = until && until < now ? until : now;
  if (!(since < end) || since.getTime() < 0) {
    throw new ServiceError("invalid_request", "Choose a time in the past to replay from.", { field: "since" });
  }
  const [row] = await tx.$queryRaw<{ total: number }[]>`
    SELECT count(*)::int AS total FROM (
      SELECT FROM delivery d WHERE d.webhook_id = ${webhookId} AND d.state = 'failed'
        AND d.id >= ${firstIdAt(since)} AND d.id < ${firstIdAt(end)} LIMIT ${FAILED_MAX + 1}) f`;
  const total = row?.total ?? 0;
  if (total === 0) throw new ServiceError("conflict", "No delivery of that time has failed: there is nothing to replay.");
  if (total > FAILED_MAX) {
    const sentence = `More than ${FAILED_MAX.toLocaleString("en")} deliveries failed in that time. Choose a shorter one.`;
    throw new ServiceError("invalid_request", sentence, { field: "since" });
  }
  return { ids: [], since, until: end, total };
}
