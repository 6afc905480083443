import { type WatchedItemInput, WEBHOOKS_MAX_PER_OWNER } from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation } from "../../access/delegation.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { seal } from "../../crypto/seal.ts";
import { type Db, inTransaction } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { findWebhook } from "./find-webhook.ts";
import { newWebhookSecret, parseDomains, parseWebhookSecret } from "./parse-webhook.ts";
import { resolveWatched } from "./resolve-watched.ts";
import { auditOrgId, targetInShort, type Webhook, type WebhookOwner, webhookNamespace } from "./webhook.ts";
import { readTarget, type TargetInput } from "./webhook-target.ts";

export type NewWebhook = TargetInput & {
  watched: readonly WatchedItemInput[];
  /** All domains if left out or empty. */
  domains?: readonly string[] | null;
  /** The user's own secret, or `generate` for one of ours; none if left out or empty. */
  secret?: string | null | { generate: true };
};

/**
 * Creates an enabled webhook.
 * @returns it, and the secret if it was generated: it is never shown again (S130)
 * @throws ServiceError `invalid_request` (with the field: url, job, jobSourceId, watched, domains, secret), `not_found` (the
 * owner), `insufficient_scope`, `conflict` (too many)
 */
export async function createWebhook(
  actor: Actor,
  owner: WebhookOwner,
  input: NewWebhook,
  from: RequestOrigin,
): Promise<{ webhook: Webhook; secret: string | null }> {
  const isGenerated = typeof input.secret === "object" && input.secret !== null;
  const secret = isGenerated ? newWebhookSecret() : parseWebhookSecret(input.secret ?? "");
  const domains = parseDomains(input.domains);
  return inTransaction(async (tx) => {
    const what = owner.kind === "organization" ? "Organization" : "Account";
    await requirePermission(actor, "webhook.manage", webhookNamespace(owner), { what, tx });
    await lockWebhooksOf(tx, owner);
    if ((await tx.webhook.count({ where: { ownerId: owner.id } })) >= WEBHOOKS_MAX_PER_OWNER) {
      throw new ServiceError("conflict", `There are ${WEBHOOKS_MAX_PER_OWNER} webhooks already. Delete one first.`);
    }
    const target = await readTarget(tx, actor, owner, input);
    const watched = await resolveWatched(tx, actor, { owner, items: input.watched });
    const id = newId();
    await tx.webhook.create({
      data: {
        id,
        ownerId: owner.id,
        ownerKind: owner.kind,
        ...target,
        domains,
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
      data: { webhookId: id, target: targetInShort(target), domains, watched: watched.length, hasSecret: secret !== null },
      from,
    });
    return { webhook: await findWebhook(actor, id, { tx }), secret: isGenerated ? secret : null };
  });
}

/**
 * Locks the owner, so that their webhooks are created one after another and counted, and so that deleting the owner waits for a
 * new webhook and finds it. A foreign key cannot do this, since an owner is a user or an organization.
 */
async function lockWebhooksOf(tx: Db, { kind, id }: WebhookOwner): Promise<void> {
  const live =
    kind === "user"
      ? await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${id} AND disabled_at IS NULL FOR KEY SHARE`
      : await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${id} FOR KEY SHARE`;
  if (live.length === 0) throw notFound(kind === "organization" ? "Organization" : "Account");
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`webhooks ${id}`}, 0))`;
}
