import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { isServiceError, notFound } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { readWebhooks } from "./read-webhooks.ts";
import { type Webhook, webhookNamespace } from "./webhook.ts";

export type WebhookAction = "webhook.read" | "webhook.manage";

/**
 * Finds a webhook by id, for an actor who may do `action` with its owner's webhooks.
 * @param of the organization or user that must own it, if the URL names them
 * @throws ServiceError `not_found` if it does not exist, is somebody else's or may not be seen, without distinction (S136);
 * `insufficient_scope` for a token without the scope `webhooks`, whatever the id
 */
export async function findWebhook(
  actor: Actor,
  id: string,
  { action = "webhook.read", of, tx = db() }: { action?: WebhookAction; of?: string; tx?: Db } = {},
): Promise<Webhook> {
  const [webhook] = isId(id) ? await readWebhooks(Prisma.sql`w.id = ${id}`, { tx, actor }) : [];
  if (!webhook || (of !== undefined && webhook.owner.id !== of)) return refuseAbsent(actor, action, tx);
  try {
    await requirePermission(actor, action, webhookNamespace(webhook.owner), { what: "Webhook", tx });
  } catch (error) {
    if (isServiceError(error) && error.code === "not_found") return refuseAbsent(actor, action, tx);
    throw error;
  }
  return webhook;
}

/** A token without the scope gets this error for every id, so that it does not learn which ones exist. */
async function refuseAbsent(actor: Actor, action: WebhookAction, tx: Db): Promise<never> {
  if (actor.kind === "token" && !actor.boundOrgId) {
    await requirePermission(actor, action, { ownerUserId: actor.userId, ownerOrgId: null }, { what: "Webhook", tx });
  }
  throw notFound("Webhook");
}

/** The same before a change: locks the row until the transaction ends. */
export async function findWebhookToChange(tx: Db, actor: Actor, id: string, of?: string): Promise<Webhook> {
  if (isId(id)) await tx.$queryRaw`SELECT 1 FROM webhook WHERE id = ${id} FOR NO KEY UPDATE`;
  return findWebhook(actor, id, { action: "webhook.manage", tx, ...(of !== undefined && { of }) });
}
