import { isDeepStrictEqual } from "node:util";
import type { WatchedItemInput } from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation, requireOwnWork } from "../../access/delegation.ts";
import { isOwnProgram } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { inTransaction } from "../../db.ts";
import { checkAll, ServiceError } from "../../errors.ts";
import { targetHost } from "../target-host.ts";
import { findWebhook, findWebhookToChange } from "./find-webhook.ts";
import { parseEvents, parseWebhookName, parseWebhookSecret } from "./parse-webhook.ts";
import { resolveWatched } from "./resolve-watched.ts";
import { replaceSecret } from "./rotate-webhook-secret.ts";
import { auditOrgId, targetInShort, type Webhook } from "./webhook.ts";
import { hasTarget, readTarget, type TargetColumns, type TargetInput } from "./webhook-target.ts";

type WebhookChanges = TargetInput & {
  /** Unchanged if absent or empty: to leave it unchanged, existing clients send an empty list (docs/specification/webhooks.md#management). */
  watched?: readonly WatchedItemInput[] | null;
  /** An empty one removes it. */
  name?: string | null;
  /** Unchanged if absent or empty, as `watched`. Without `events`, all events of these domains. */
  domains?: readonly string[] | null;
  /** Unchanged if absent or empty, as `watched`. */
  events?: readonly string[] | null;
  /** An empty one removes it. If left out it stays, unless the target becomes another receiver: then it is required. */
  secret?: string | null;
};

/**
 * Changes only the given fields. A job instead of a URL, or the reverse, replaces it.
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
  const [domains, events, items] = [changes.domains ?? [], changes.events ?? [], changes.watched ?? []];
  return inTransaction(async (tx) => {
    const before = await findWebhookToChange(tx, actor, id, of);
    requireOwnWork(actor, before.madeWith, "webhook");
    const { owner } = before;
    const { name, target, watched, filter, secret } = await checkAll({
      name: () => (changes.name == null ? undefined : parseWebhookName(changes.name)),
      target: () => (hasTarget(changes) ? readTarget(tx, actor, owner, changes) : undefined),
      watched: () => (items.length > 0 ? resolveWatched(tx, actor, { owner, items, present: before.watched }) : undefined),
      filter: () => (domains.length + events.length > 0 ? parseEvents(domains, events) : undefined),
      secret: () => (changes.secret == null ? undefined : parseWebhookSecret(changes.secret)),
    });
    const isMoved = target !== undefined && !isSameReceiver(actor, before, target);
    if (isMoved && before.hasSecret && secret === undefined) throw secretNeeded();
    // From now on the webhook acts with the rights of the person or token that changed what it watches, its events, its target or its
    // secret.
    const by = { createdById: actorId(actor), delegationId: await recordDelegation(tx, actor) };
    const isTakenOver = target !== undefined || watched !== undefined || filter !== undefined || secret !== undefined;
    await tx.webhook.update({
      where: { id },
      data: { ...(name !== undefined && { name }), ...target, ...filter, ...(isTakenOver && by), updatedAt: new Date() },
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
        ...(name !== undefined && { name }),
        ...filter,
        ...(watched && { watched: watched.length }),
        ...(secret !== undefined && { secret: secret === null ? "removed" : "replaced" }),
      },
      from,
    });
    return findWebhook(actor, id, { tx });
  });
}

/**
 * A webhook's secret goes to its target in plain text, as `X-Webhook-Secret` or in a job's environment. If the target could change while
 * the secret stays, a client with the scope `webhooks` could read a secret that it was never shown: it would point the webhook at its own
 * server and send a test. So changing the receiver requires giving the secret too; GitHub's API does the same (docs/decisions/077).
 */
function isSameReceiver(actor: Actor, before: Pick<Webhook, "url" | "job">, after: Pick<TargetColumns, "url" | "job">): boolean {
  // A host that receives for many people gives each of them a path: an app may keep the URL, but not change any part of it.
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

/** A copy without undefined properties, as a JSON column stores it. */
const asStored = (job: unknown): unknown => JSON.parse(JSON.stringify(job));

const secretNeeded = () =>
  new ServiceError(
    "invalid_request",
    "This webhook has a secret, which the new target would get. Enter the current secret again or a new one, or remove the secret.",
    { field: "secret" },
  );
