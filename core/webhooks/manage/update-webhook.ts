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
  /** Empty or absent for no change. Existing clients send an empty list. */
  watched?: readonly WatchedItemInput[] | null;
  name?: string | null;
  /** Empty or absent for no change. Without `events`, the webhook gets all events of these domains. */
  domains?: readonly string[] | null;
  events?: readonly string[] | null;
  /** An empty text removes the secret. A change of the receiver must contain this field if the webhook has a secret. */
  secret?: string | null;
};

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
    // After a change of anything but the name, the webhook acts with the rights of this actor.
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
      // Waiting deliveries go to the new target (S128).
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

/** A new receiver gets the secret in plain text. A client must not read a secret that it was never shown (docs/decisions/077). */
function isSameReceiver(actor: Actor, before: Pick<Webhook, "url" | "job">, after: Pick<TargetColumns, "url" | "job">): boolean {
  // One host may receive for many users by path, so an app must not change any part of the URL.
  if (actor.kind === "token" && !isOwnProgram(actor) && before.url !== after.url) return false;
  if (before.url !== null && after.url !== null) {
    const schemeOf = (url: string) => URL.parse(url)?.protocol;
    // All relays have this service's origin, but different readers.
    return targetHost(before.url) === targetHost(after.url) && schemeOf(before.url) === schemeOf(after.url);
  }
  if (before.job === null || after.url !== null) return false;
  const { secretNames: _, ...job } = before.job;
  return isDeepStrictEqual(asStored(job), asStored(after.job));
}

/** A JSON column stores no undefined properties, so they are removed before the comparison. */
const asStored = (job: unknown): unknown => JSON.parse(JSON.stringify(job));

const secretNeeded = () =>
  new ServiceError(
    "invalid_request",
    "This webhook has a secret, which the new target would get. Enter the current secret again or a new one, or remove the secret.",
    { field: "secret" },
  );
