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
 * A webhook by its id, for somebody who may do `action` with its owner's webhooks.
 * @param of the organization or the user whose it has to be, where an address names them
 * @throws ServiceError `not_found` for what is not there, is somebody else's or may not be seen, alike (S136); `insufficient_scope` for
 * a token without the scope `webhooks`, whatever the id
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

/** A token without the scope is told so of every id, so that it learns of none whether there is such a webhook. */
async function refuseAbsent(actor: Actor, action: WebhookAction, tx: Db): Promise<never> {
  if (actor.kind === "token" && !actor.boundOrgId) {
    await requirePermission(actor, action, { ownerUserId: actor.userId, ownerOrgId: null }, { what: "Webhook", tx });
  }
  throw notFound("Webhook");
}

/** The same for whoever is about to change it: its row is locked until the transaction ends. */
export async function findWebhookToChange(tx: Db, actor: Actor, id: string, of?: string): Promise<Webhook> {
  if (isId(id)) await tx.$queryRaw`SELECT 1 FROM webhook WHERE id = ${id} FOR NO KEY UPDATE`;
  return findWebhook(actor, id, { action: "webhook.manage", tx, ...(of !== undefined && { of }) });
}
