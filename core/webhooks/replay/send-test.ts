import {
  domainOf,
  type EventPayload,
  eventPayloadSchema,
  type RepoType,
  repoApiPath,
  repoPath,
  type TestKind,
} from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { env } from "../../env.ts";
import { Prisma, type Webhook } from "../../generated/prisma/client.ts";
import { newId, newOrderedId } from "../../ids.ts";
import { findWebhookRow } from "../manage/find-webhook.ts";
import { webhookReads } from "../watchers.ts";
import { awaitAttempt, putIntoQueue, type Sent, type WaitOptions } from "./replay-delivery.ts";

const TESTS = { limit: 30, windowSeconds: 60 };

/**
 * A test is not a trigger, and has only one attempt.
 * @param kind by default, the first of the webhook's kinds, or the usual kind of its domains
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
  return { deliveryId, attempt: await awaitAttempt({ ...webhook, deliveryId }, 0, wait) };
}

const usualKind = ({ domains, events: [first] }: Webhook): TestKind =>
  (first as TestKind | undefined) ??
  (domains.includes(domainOf("repo.content")) ? "repo.content.update" : "discussion.comment.create");

const NOBODY = "0".repeat(24);

type TestRepo = {
  id: string;
  type: RepoType;
  fullName: string;
  ownerId: string;
  isPrivate: boolean;
  externalUrl: string | null;
  headSha: string | null;
  tags: string[];
};

/** Uses a watched repository, if there is one. The event is made up. */
async function testPayload(tx: Db, webhook: Webhook, kind: TestKind, author: string | null): Promise<EventPayload> {
  const repo = (await watchedRepo(tx, webhook)) ?? madeUpRepo(webhook);
  const at = kind.lastIndexOf(".");
  const event = { scope: kind.slice(0, at), action: kind.slice(at + 1) };
  const about = { event, repo: repoOf(repo, event.scope) };
  return { ...about, ...detailsOf(kind, repo, author ?? NOBODY) } as EventPayload;
}

function detailsOf(kind: TestKind, repo: TestRepo, author: string): object {
  if (kind === "repo.move") return { movedTo: { name: `${repo.fullName}-moved`, owner: { id: repo.ownerId } } };
  if (kind === "repo.config.update") return { updatedConfig: { private: repo.isPrivate } };
  if (kind === "repo.content.update") {
    return { updatedRefs: [{ ref: "refs/heads/main", oldSha: sha("old"), newSha: repo.headSha ?? sha("new") }] };
  }
  if (!kind.startsWith("discussion")) return {};
  const discussion = discussionOf(repo, kind, author);
  const hasComment = kind.startsWith("discussion.comment") || kind === "discussion.create";
  return { discussion, ...(hasComment && { comment: commentOf(discussion.url.web, author) }) };
}

function repoOf(repo: TestRepo, scope: string) {
  return {
    type: repo.type,
    name: repo.fullName,
    id: repo.id,
    private: repo.isPrivate,
    url: {
      web: repo.externalUrl ?? env().ORIGIN + repoPath(repo.type, repo.fullName),
      api: env().ORIGIN + repoApiPath(repo.type, repo.fullName),
    },
    owner: { id: repo.ownerId },
    ...(scope.startsWith("repo") && { headSha: repo.headSha ?? sha("new") }),
    ...(repo.type === "space" && { subdomain: repo.fullName.toLowerCase().replace(/[^a-z0-9]+/g, "-") }),
    tags: repo.tags,
  };
}

/** No discussion has this number, so that a receiver that answers a test with a comment finds none. */
function discussionOf(repo: TestRepo, kind: TestKind, author: string) {
  const num = 1_000_000_000;
  return {
    id: newId(),
    title: "A test of this webhook",
    url: {
      web: `${env().ORIGIN}${repoPath(repo.type, repo.fullName)}/discussions/${num}`,
      api: `${env().ORIGIN}${repoApiPath(repo.type, repo.fullName)}/discussions/${num}`,
    },
    status: kind === "discussion.update" ? "closed" : "open",
    author: { id: author },
    num,
    isPullRequest: false,
    pinned: false,
  };
}

function commentOf(discussionUrl: string, author: string) {
  const id = newId();
  const content = "This is a test event. Nothing happened.";
  return { id, author: { id: author }, content, hidden: false, url: { web: `${discussionUrl}#${id}` } };
}

const sha = (of: "old" | "new"): string => (of === "old" ? "1" : "2").repeat(40);

/** The webhook's owner must be able to read the repository (S129). */
async function watchedRepo(tx: Db, webhook: Webhook): Promise<TestRepo | undefined> {
  const [row] = await tx.$queryRaw<TestRepo[]>`
    SELECT r.id, r.type, coalesce(u.username, o.name) || '/' || r.name AS "fullName", r.owner_id AS "ownerId",
      r.is_private AS "isPrivate", r.external_url AS "externalUrl", r.head_sha AS "headSha", coalesce(r.tags, '{}') AS tags
    FROM webhook w JOIN webhook_watch i ON i.webhook_id = w.id
    CROSS JOIN LATERAL (
      (SELECT * FROM repo r WHERE r.id = i.target_id)
      UNION ALL
      (SELECT * FROM repo r WHERE r.owner_id = i.target_id AND i.type IN ('user', 'org')
         AND ${isReadable} ORDER BY r.updated_at DESC LIMIT 1)
    ) r
    LEFT JOIN "user" u ON r.owner_kind = 'user' AND u.id = r.owner_id
    LEFT JOIN organization o ON r.owner_kind = 'organization' AND o.id = r.owner_id
    WHERE w.id = ${webhook.id} AND coalesce(u.username, o.name) IS NOT NULL
      AND ${isReadable}
    ORDER BY i.type IN ('user', 'org'), r.updated_at DESC LIMIT 1`;
  return row;
}

const isReadable = Prisma.sql`(NOT r.is_private OR ${webhookReads(Prisma.sql`r.owner_id`, Prisma.sql`r.created_by_client_id`)})`;

function madeUpRepo({ ownerId }: Webhook): TestRepo {
  const made = { isPrivate: false, externalUrl: null, headSha: null, tags: [] };
  return { id: newId(), type: "model", fullName: "example/test", ownerId, ...made };
}
