import { type WatchedItemInput, WEBHOOKS_MAX_PER_OWNER } from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation } from "../../access/delegation.ts";
import { requirePermission } from "../../access/may.ts";
import { membersWhoMay } from "../../access/members-who-may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { seal } from "../../crypto/seal.ts";
import { type Db, inTransaction } from "../../db.ts";
import { checkAll, notFound, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { findWebhook } from "./find-webhook.ts";
import { newWebhookSecret, parseEvents, parseWebhookName, parseWebhookSecret } from "./parse-webhook.ts";
import { resolveWatched } from "./resolve-watched.ts";
import { auditOrgId, targetInShort, type Webhook, type WebhookOwner, webhookNamespace } from "./webhook.ts";
import { readTarget, type TargetInput } from "./webhook-target.ts";

/** Anybody may create organizations, and no quota counts deliveries (S137). */
export const CREATED_MAX_PER_USER = 500;
/** Without this limit, two users could create any number of webhooks in organizations that one of them leaves. */
export const CREATED_MAX_IN_ALL = 2_500;

export type NewWebhook = TargetInput & {
  watched: readonly WatchedItemInput[];
  name?: string | null;
  /** If this is absent or empty, the webhook gets all domains. */
  domains?: readonly string[] | null;
  /** If this is absent or empty, the webhook gets all events of the domains. */
  events?: readonly string[] | null;
  secret?: string | null | { generate: true };
};

/** @returns the webhook, and a generated secret, which is never shown again (S130) */
export async function createWebhook(
  actor: Actor,
  owner: WebhookOwner,
  input: NewWebhook,
  from: RequestOrigin,
): Promise<{ webhook: Webhook; secret: string | null }> {
  const given = typeof input.secret === "string" ? input.secret : "";
  const generated = typeof input.secret === "object" && input.secret !== null ? newWebhookSecret() : null;
  return inTransaction(async (tx) => {
    const what = owner.kind === "organization" ? "Organization" : "Account";
    await requirePermission(actor, "webhook.manage", webhookNamespace(owner), { what, tx });
    await lockWebhooksOf(tx, owner);
    await requireFewCreated(tx, actorId(actor));
    if ((await tx.webhook.count({ where: { ownerId: owner.id } })) >= WEBHOOKS_MAX_PER_OWNER) {
      throw new ServiceError("conflict", `There are already ${WEBHOOKS_MAX_PER_OWNER} webhooks. Delete one first.`);
    }
    const { name, target, watched, filter, secret } = await checkAll({
      name: () => parseWebhookName(input.name ?? ""),
      target: () => readTarget(tx, actor, owner, input),
      watched: () => resolveWatched(tx, actor, { owner, items: input.watched }),
      filter: () => parseEvents(input.domains ?? [], input.events ?? []),
      secret: () => generated ?? parseWebhookSecret(given),
    });
    const id = newId();
    await tx.webhook.create({
      data: {
        id,
        ownerId: owner.id,
        ownerKind: owner.kind,
        name,
        ...target,
        ...filter,
        secret: secret === null ? null : seal("webhook secret", secret),
        createdById: actorId(actor),
        delegationId: await recordDelegation(tx, actor),
        watched: { createMany: { data: watched } },
      },
    });
    await recordAuditEvent(tx, {
      type: "webhook.create",
      actorId: actorId(actor),
      orgId: auditOrgId(owner),
      clientId: clientIdOf(actor),
      data: { webhookId: id, target: targetInShort(target), ...filter, watched: watched.length, hasSecret: secret !== null },
      from,
    });
    return { webhook: await findWebhook(actor, id, { tx }), secret: generated };
  });
}

/** Makes creations wait for each other and for the owner's deletion. A foreign key cannot refer to either of two tables. */
async function lockWebhooksOf(tx: Db, { kind, id }: WebhookOwner): Promise<void> {
  const live =
    kind === "user"
      ? await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${id} AND disabled_at IS NULL FOR KEY SHARE`
      : await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${id} FOR KEY SHARE`;
  if (live.length === 0) throw notFound(kind === "organization" ? "Organization" : "Account");
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`webhooks ${id}`}, 0))`;
}

/** Requests for several owners wait for each other. Webhooks that the user cannot delete count only against the higher limit. */
async function requireFewCreated(tx: Db, createdById: string | null): Promise<void> {
  if (createdById === null) return;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`webhooks by ${createdById}`}, 0))`;
  const mayDelete = Prisma.sql`(w.owner_id = ${createdById} OR EXISTS (SELECT FROM member_standing m
    WHERE m.org_id = w.owner_id AND m.user_id = ${createdById} AND ${membersWhoMay("webhook.manage", null, { isPresent: false })}))`;
  const [created] = await tx.$queryRaw<{ all: number; theirs: number }[]>`
    SELECT count(*)::int AS all, (count(*) FILTER (WHERE ${mayDelete}))::int AS theirs
      FROM webhook w WHERE w.created_by_id = ${createdById}`;
  const { all = 0, theirs = 0 } = created ?? {};
  if (theirs >= CREATED_MAX_PER_USER)
    throw new ServiceError(
      "conflict",
      `You have created ${CREATED_MAX_PER_USER} webhooks, for yourself and for organizations. Delete one first.`,
    );
  if (all < CREATED_MAX_IN_ALL) return;
  throw new ServiceError(
    "conflict",
    `You have created ${CREATED_MAX_IN_ALL} webhooks, most of them in organizations where you can no longer manage webhooks. Ask the administrators of those organizations to delete some.`,
  );
}
