import type { Actor, TokenHolder } from "../../access/actor.ts";
import { may, requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { isServiceError, notFound } from "../../errors.ts";
import { Prisma, type Webhook as WebhookRow } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { readWebhooks } from "./read-webhooks.ts";
import { type Webhook, type WebhookOwner, webhookNamespace } from "./webhook.ts";

type WebhookAction = "webhook.read" | "webhook.manage";

/**
 * The error does not show whether the webhook exists (S136).
 * @param of the owner that the URL names, if it names one
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

/** Without the scope, the error is the same for every ID, so that a token does not learn which IDs exist. */
async function refuseAbsent(actor: Actor, action: WebhookAction, tx: Db): Promise<never> {
  if (actor.kind === "token" && !actor.boundOrgId) {
    await requirePermission(actor, action, { ownerUserId: actor.userId, ownerOrgId: null }, { what: "Webhook", tx });
  }
  throw notFound("Webhook");
}

export async function findWebhookToChange(tx: Db, actor: Actor, id: string, of?: string): Promise<Webhook> {
  if (isId(id)) await tx.$queryRaw`SELECT 1 FROM webhook WHERE id = ${id} FOR NO KEY UPDATE`;
  return findWebhook(actor, id, { action: "webhook.manage", tx, ...(of !== undefined && { of }) });
}

export async function listWebhooks(actor: Actor, owner: WebhookOwner): Promise<Webhook[]> {
  const what = owner.kind === "organization" ? "Organization" : "Account";
  await requirePermission(actor, "webhook.read", webhookNamespace(owner), { what });
  return readWebhooks(Prisma.sql`w.owner_id = ${owner.id}`, { actor });
}

/** An exchanged token belongs to the organization for which it was exchanged. */
export function ownWebhooksOf({ userId, boundOrgId }: TokenHolder): WebhookOwner {
  return boundOrgId === undefined ? { kind: "user", id: userId } : { kind: "organization", id: boundOrgId };
}

/**
 * Does not read the names of watched items.
 * @param ownerId the owner that the URL names, if it names one
 */
export async function findWebhookRow(
  actor: Actor,
  webhookId: string,
  action: WebhookAction,
  { ownerId, tx = db() }: { ownerId?: string | undefined; tx?: Db } = {},
): Promise<WebhookRow> {
  const row = isId(webhookId) ? await tx.webhook.findUnique({ where: { id: webhookId } }) : null;
  if (row && (ownerId === undefined || row.ownerId === ownerId)) {
    const owner = { kind: row.ownerKind as "user" | "organization", id: row.ownerId };
    if (await may(actor, action, webhookNamespace(owner), tx)) return row;
  }
  // There is no row or no permission, and this call throws the right error.
  await findWebhook(actor, webhookId, { action, tx, ...(ownerId !== undefined && { of: ownerId }) });
  throw notFound("Webhook");
}
