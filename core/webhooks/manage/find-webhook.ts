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

/** A token without the scope gets `insufficient_scope` for every id, so that it does not learn which ones exist. */
async function refuseAbsent(actor: Actor, action: WebhookAction, tx: Db): Promise<never> {
  if (actor.kind === "token" && !actor.boundOrgId) {
    await requirePermission(actor, action, { ownerUserId: actor.userId, ownerOrgId: null }, { what: "Webhook", tx });
  }
  throw notFound("Webhook");
}

/** Finds a webhook that the actor may change, and locks its row until the transaction ends. @throws ServiceError as `findWebhook` */
export async function findWebhookToChange(tx: Db, actor: Actor, id: string, of?: string): Promise<Webhook> {
  if (isId(id)) await tx.$queryRaw`SELECT 1 FROM webhook WHERE id = ${id} FOR NO KEY UPDATE`;
  return findWebhook(actor, id, { action: "webhook.manage", tx, ...(of !== undefined && { of }) });
}

/**
 * All webhooks of a user or an organization, oldest first; there are at most WEBHOOKS_MAX_PER_OWNER.
 * @throws ServiceError `not_found` (an organization whose webhooks the actor may not see), `insufficient_scope`
 */
export async function listWebhooks(actor: Actor, owner: WebhookOwner): Promise<Webhook[]> {
  const what = owner.kind === "organization" ? "Organization" : "Account";
  await requirePermission(actor, "webhook.read", webhookNamespace(owner), { what });
  return readWebhooks(Prisma.sql`w.owner_id = ${owner.id}`, { actor });
}

/** The owner of a program's own webhooks: its user, or for an exchanged token the organization for which it was exchanged. */
export function ownWebhooksOf({ userId, boundOrgId }: TokenHolder): WebhookOwner {
  return boundOrgId === undefined ? { kind: "user", id: userId } : { kind: "organization", id: boundOrgId };
}

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
): Promise<WebhookRow> {
  const row = isId(webhookId) ? await tx.webhook.findUnique({ where: { id: webhookId } }) : null;
  if (row && (ownerId === undefined || row.ownerId === ownerId)) {
    const owner = { kind: row.ownerKind as "user" | "organization", id: row.ownerId };
    if (await may(actor, action, webhookNamespace(owner), tx)) return row;
  }
  // Throws the right error.
  await findWebhook(actor, webhookId, { action, tx, ...(ownerId !== undefined && { of: ownerId }) });
  throw notFound("Webhook");
}
