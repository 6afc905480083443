import { domainOf, eventPayloadSchema, type TestKind } from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import type { Webhook } from "../../generated/prisma/client.ts";
import { newId, newOrderedId } from "../../ids.ts";
import { findWebhookRow } from "../activity/find-webhook-row.ts";
import { awaitAttempt } from "./await-attempt.ts";
import { putIntoQueue } from "./put-into-queue.ts";
import type { Sent, WaitOptions } from "./replay-delivery.ts";
import { testPayload } from "./test-payload.ts";

/** For each webhook. */
const TESTS = { limit: 30, windowSeconds: 60 };

/**
 * Sends a made-up event about a repository that the webhook watches, or else about a made-up one, in the form of a real event
 * of its kind, with `X-Webhook-Test: true`. It appears in the list like other deliveries, but has one attempt and counts
 * towards no limit. A disabled webhook sends it too, so that its owner can find out whether it may be enabled.
 *
 * It returns like `replayDelivery`.
 * @param kind by default `repo.content.update`, or `discussion.comment.create` for a webhook that watches only discussions
 * @throws ServiceError `not_found`, `rate_limited`
 */
export async function sendTest(
  actor: Actor,
  webhookId: string,
  kind: TestKind | undefined,
  from: RequestOrigin,
  { ownerId, ...wait }: WaitOptions = {},
): Promise<Sent> {
  const webhook = await findWebhookRow(actor, webhookId, "webhook.manage", { ownerId });
  await consumeThrottle(throttleKey("webhook test", webhook.id), TESTS);
  const deliveryId = newOrderedId();
  await db().$transaction(async (tx) => {
    const current = await findWebhookRow(actor, webhookId, "webhook.manage", { ownerId, tx });
    const payload = eventPayloadSchema.parse(await testPayload(tx, current, kind ?? usualKind(current), actorId(actor)));
    const { event, repo } = payload;
    const eventId = newId();
    await tx.event.create({
      data: {
        ...{
          id: eventId,
          scope: event.scope,
          action: event.action,
          repoId: repo.id,
          repoType: repo.type,
          ownerId: repo.owner.id,
        },
        ...{ isPrivate: repo.private, actorId: actorId(actor), payload, isTest: true, fannedOutAt: new Date() },
      },
    });
    await tx.delivery.create({
      data: {
        ...{ id: deliveryId, webhookId: current.id, ownerId: current.ownerId, eventId, kind: "test", state: "waiting" },
        ...{ scope: event.scope, action: event.action, repoId: repo.id, repoType: repo.type, repoName: repo.name },
      },
    });
    await putIntoQueue(tx, { webhook: current, deliveryId, eventId, kind: "test" });
    await recordAuditEvent(tx, {
      type: "webhook.test",
      actorId: actorId(actor),
      clientId: clientIdOf(actor),
      orgId: current.ownerKind === "organization" ? current.ownerId : null,
      data: { webhookId: current.id, deliveryId, kind: `${event.scope}.${event.action}` },
      from,
    });
  });
  return { deliveryId, attempt: await awaitAttempt({ id: deliveryId, webhookId: webhook.id }, 0, wait) };
}

const usualKind = ({ domains }: Webhook): TestKind =>
  domains.includes(domainOf("repo.content")) ? "repo.content.update" : "discussion.comment.create";
