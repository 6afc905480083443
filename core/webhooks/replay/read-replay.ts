import type { Actor } from "../../access/actor.ts";
import { pool } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { findWebhookRow } from "../activity/find-webhook-row.ts";
import { type ReplayRow, toReplay, type WebhookReplay } from "./webhook-replay.ts";

type Of = { ownerId?: string | undefined };

/** The progress of a replay. @throws ServiceError `not_found` */
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

/** The latest replays of a webhook, the newest first. @throws ServiceError `not_found` */
export async function listReplays(actor: Actor, webhookId: string, of: Of = {}): Promise<WebhookReplay[]> {
  await findWebhookRow(actor, webhookId, "webhook.read", of);
  const { rows } = await pool().query<ReplayRow>(
    `SELECT * FROM webhook_replay WHERE webhook_id = $1 ORDER BY id DESC LIMIT ${REPLAYS_SHOWN}`,
    [webhookId],
  );
  return rows.map(toReplay);
}
