import type { Actor } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import type { Webhook } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { findWebhook, type WebhookAction } from "../manage/find-webhook.ts";
import { webhookNamespace } from "../manage/webhook.ts";

/**
 * The row of a webhook that the actor may read or manage, without the names of watched items. Every page of its activity reads
 * it.
 * @param ownerId if the URL names an owner: webhooks of others are not found
 * @throws ServiceError as `findWebhook` does
 */
export async function findWebhookRow(
  actor: Actor,
  webhookId: string,
  action: WebhookAction,
  { ownerId, tx = db() }: { ownerId?: string | undefined; tx?: Db } = {},
): Promise<Webhook> {
  const row = isId(webhookId) ? await tx.webhook.findUnique({ where: { id: webhookId } }) : null;
  if (row && (ownerId === undefined || row.ownerId === ownerId)) {
    const owner = { kind: row.ownerKind as "user" | "organization", id: row.ownerId };
    if (await may(actor, action, webhookNamespace(owner), tx)) return row;
  }
  // Throws the right error.
  await findWebhook(actor, webhookId, { action, tx, ...(ownerId !== undefined && { of: ownerId }) });
  throw notFound("Webhook");
}
