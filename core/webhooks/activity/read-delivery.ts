import type { DeliveryDetailJson } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { unseal } from "../../crypto/seal.ts";
import { db, pool } from "../../db.ts";
import { notFound } from "../../errors.ts";
import type { Webhook } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { deliveryBody } from "../delivery/delivery.ts";
import { findWebhookRow } from "../manage/find-webhook.ts";
import { mayReceive } from "../watchers.ts";
import { type Delivery, type DeliveryRow, deliveryColumns, deliveryJson, toDelivery } from "./delivery.ts";
import { visibleTo } from "./delivery-conditions.ts";
import { type Attempt, listAttempts } from "./list-attempts.ts";

export type DeliveryDetail = Delivery & {
  /** The body that every attempt sends, byte for byte (S124). */
  body: { text: string; bytes: number } | null;
  /** `access` means that the body was never sent, and the webhook's owner cannot read the repository now (S129). */
  bodyMissing: "access" | "expired" | null;
  attemptLog: Attempt[];
  olderAttempts: string | null;
  canReplay: boolean;
};

/** The error does not show whether the delivery exists (S136). */
export async function readDelivery(
  actor: Actor,
  webhookId: string,
  deliveryId: string,
  { attemptsBefore, ownerId }: { attemptsBefore?: string | undefined; ownerId?: string | undefined } = {},
): Promise<DeliveryDetail> {
  const webhook = await findWebhookRow(actor, webhookId, "webhook.read", { ownerId });
  const row = isId(deliveryId) ? await readRow(webhook.id, deliveryId) : undefined;
  if (!row || !(await visibleTo(actor, [row.id])).has(row.id)) throw notFound("Delivery");
  const { attempts, older } = await listAttempts(row, { before: attemptsBefore, secrets: secretsOf(webhook) });
  const body = await bodyOf(row, webhook, attempts);
  return {
    ...toDelivery(row),
    ...body,
    attemptLog: attempts,
    olderAttempts: older,
    canReplay: row.payload !== null && webhook.disabledAt === null,
  };
}

type Row = DeliveryRow & { payload: string | null };

async function readRow(webhookId: string, deliveryId: string): Promise<Row | undefined> {
  const { rows } = await pool().query<Row>({
    name: "read-delivery",
    text: `SELECT ${deliveryColumns}, e.payload::text AS payload
           FROM delivery d LEFT JOIN delivery_queue q ON q.id = d.id LEFT JOIN event e ON e.id = d.event_id
           WHERE d.id = $1 AND d.webhook_id = $2`,
    values: [deliveryId, webhookId],
  });
  return rows[0];
}

async function bodyOf(row: Row, webhook: Webhook, attempts: Attempt[]): Promise<Pick<DeliveryDetail, "body" | "bodyMissing">> {
  if (row.payload === null) return { body: null, bodyMissing: "expired" };
  const wasSent = attempts.some(({ outcome }) => outcome !== "withheld" && outcome !== "blocked");
  const isTheirs = row.kind === "test" || wasSent || (await mayOwnerRead(webhook.id, row.event_id));
  if (!isTheirs) return { body: null, bodyMissing: "access" };
  const text = deliveryBody(row.payload, webhook.id);
  return { body: { text, bytes: Buffer.byteLength(text) }, bodyMissing: null };
}

/** A target may send these secrets back. */
function secretsOf({ secret, previousSecret }: Webhook): string[] {
  return [secret, previousSecret].flatMap((sealed) => {
    try {
      return sealed ? [unseal("webhook secret", sealed)] : [];
    } catch {
      // A secret that was sealed with a lost SECRET_KEY must not make the list unreadable.
      return [];
    }
  });
}

export function deliveryDetailJson({
  body,
  bodyMissing,
  attemptLog,
  olderAttempts,
  canReplay,
  ...delivery
}: DeliveryDetail): DeliveryDetailJson {
  return {
    ...deliveryJson(delivery),
    ...{ body, bodyMissing, olderAttempts, canReplay },
    attemptLog: attemptLog.map(({ startedAt, nextDueAt, ...attempt }) => ({
      ...attempt,
      startedAt: startedAt.toISOString(),
      nextDueAt: nextDueAt?.toISOString() ?? null,
    })),
  };
}

/** Every attempt makes the same check (S129). */
async function mayOwnerRead(webhookId: string, eventId: string): Promise<boolean> {
  const rows = await db().$queryRaw<unknown[]>`
    SELECT 1 FROM event e JOIN webhook w ON w.id = ${webhookId} LEFT JOIN repo r ON r.id = e.repo_id
    WHERE e.id = ${eventId} AND ${mayReceive()}`;
  return rows.length > 0;
}

/** @returns false also if the webhook or the event is gone (S129) */
export async function mayReceiveDelivery(deliveryId: string): Promise<boolean> {
  const delivery = await db().delivery.findUnique({ where: { id: deliveryId }, select: { webhookId: true, eventId: true } });
  return delivery !== null && (await mayOwnerRead(delivery.webhookId, delivery.eventId));
}
