import { isDeepStrictEqual } from "node:util";
import type { WatchedItemInput } from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation, requireOwnWork } from "../../access/delegation.ts";
import { isOwnProgram } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { inTransaction } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { targetHost } from "../target-host.ts";
import { findWebhook, findWebhookToChange } from "./find-webhook.ts";
import { parseDomains, parseWebhookSecret } from "./parse-webhook.ts";
import { resolveWatched } from "./resolve-watched.ts";
import { replaceSecret } from "./rotate-webhook-secret.ts";
import { auditOrgId, targetInShort, type Webhook } from "./webhook.ts";
import { hasTarget, readTarget, type TargetColumns, type TargetInput } from "./webhook-target.ts";

export type WebhookChanges = TargetInput & {
  /** Unchanged if left out or empty: existing clients then send an empty list (docs/specification/webhooks.md#management). */
  watched?: readonly WatchedItemInput[] | null;
  /** The same. */
  domains?: readonly string[] | null;
  /** An empty one removes it. If left out it stays, unless the target becomes another receiver: then it is required. */
  secret?: string | null;
};

/**
 * Changes only what is given. A job instead of a URL, or the reverse, replaces it.
 * @param of the organization or user that must own it, if the URL names them
 * @throws ServiceError as `createWebhook`; `not_found` for a webhook that the actor may not see; `forbidden` for another app's
 */
export async function updateWebhook(
  actor: Actor,
  id: string,
  changes: WebhookChanges,
  from: RequestOrigin,
  of?: string,
): Promise<Webhook> {
  const secret = changes.secret == null ? undefined : parseWebhookSecret(changes.secret);
  return inTransaction(async (tx) => {
    const before = await findWebhookToChange(tx, actor, id, of);
    requireOwnWork(actor, before.madeWith, "webhook");
    const { owner } = before;
    const target = hasTarget(changes) ? await readTarget(tx, actor, owner, changes) : undefined;
    const isMoved = target !== undefined && !isSameReceiver(actor, before, target);
    if (isMoved && before.hasSecret && secret === undefined) throw secretNeeded();
    const domains = changes.domains && changes.domains.length > 0 ? parseDomains(changes.domains) : undefined;
    const watched =
      changes.watched && changes.watched.length > 0
        ? await resolveWatched(tx, actor, { owner, items: changes.watched, present: before.watched })
        : undefined;
    // Whoever changes what is sent, or where, or knows its secret, is responsible from now on: a person with their rights, a
    // token with its own.
    const by = { createdById: actorId(actor), delegationId: await recordDelegation(tx, actor) };
    const isTakenOver = target !== undefined || watched !== undefined || domains !== undefined || secret !== undefined;
    await tx.webhook.update({
      where: { id },
      data: { ...target, ...(domains && { domains }), ...(isTakenOver && by), updatedAt: new Date() },
    });
    if (secret !== undefined) await replaceSecret(tx, id, secret, { keepsSigning: !isMoved });
    if (watched) {
      await tx.webhookWatch.deleteMany({ where: { webhookId: id } });
      await tx.webhookWatch.createMany({ data: watched.map((item) => ({ webhookId: id, ...item })) });
    }
    if (target) {
      // Waiting deliveries go to the new target, and are counted with the others of that host (S128).
      await tx.$executeRaw`UPDATE delivery_queue SET host = ${targetHost(target.url)} WHERE webhook_id = ${id}`;
    }
    await recordAuditEvent(tx, {
      type: "webhook.update",
      actorId: actorId(actor),
      orgId: auditOrgId(owner),
      clientId: clientIdOf(actor),
      data: {
        webhookId: id,
        target: targetInShort(target ?? before),
        ...(domains && { domains }),
        ...(watched && { watched: watched.length }),
        ...(secret !== undefined && { secret: secret === null ? "removed" : "replaced" }),
      },
      from,
    });
    return findWebhook(actor, id, { tx });
  });
}

/**
 * A webhook's secret goes to its target in plain text, as `X-Webhook-Secret` or in a job's environment. If the target could
 * change while the secret stays, a token with `webhooks` could read a secret that it was never shown: point the webhook at its
 * own server, and send a test. So changing the receiver requires giving the secret too; GitHub's API does the same
 * (docs/decisions/077).
 */
function isSameReceiver(actor: Actor, before: Pick<Webhook, "url" | "job">, after: Pick<TargetColumns, "url" | "job">): boolean {
  // Hosts that receive for many people give each a path: an app may keep the URL, but not change any part of it.
  if (actor.kind === "token" && !isOwnProgram(actor) && before.url !== after.url) return false;
  if (before.url !== null && after.url !== null) {
    const schemeOf = (url: string) => URL.parse(url)?.protocol;
    // All relays have our origin, but different readers.
    return targetHost(before.url) === targetHost(after.url) && schemeOf(before.url) === schemeOf(after.url);
  }
  if (before.job === null || after.url !== null) return false;
  const { secretNames: _, ...job } = before.job;
  return isDeepStrictEqual(asStored(job), asStored(after.job));
}

/** Without undefined properties, as a JSON column stores it. */
const asStored = (job: unknown): unknown => JSON.parse(JSON.stringify(job));

const secretNeeded = () =>
  new ServiceError(
    "invalid_request",
    "This webhook has a secret, and the new target is another receiver: give the secret again, give a new one, or an empty one for none.",
    { field: "secret" },
  );
