import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { parseApiKey, sealedKey } from "./provider.ts";

/**
 * Replaces a provider's key; new requests use the new one.
 * @throws ServiceError `not_found`, `invalid_request`, `forbidden`, `reauthentication_required`
 */
export async function rotateProviderKey(actor: Actor, providerId: string, apiKey: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "installation.configure", null, { what: "The installation" });
  const key = parseApiKey(apiKey);
  if (!key) throw new ServiceError("invalid_request", "Paste the new key.", { field: "apiKey" });
  await change(actor, providerId, { change: "key" }, from, (tx) =>
    tx.inferenceProvider.update({ where: { id: providerId }, data: sealedKey(key) }),
  );
}

/**
 * Disables or enables a provider, and with it its models. Requests under way are finished.
 * @throws ServiceError `not_found`, `forbidden`, `reauthentication_required`
 */
export async function setProviderDisabled(
  actor: Actor,
  providerId: string,
  isDisabled: boolean,
  from: RequestOrigin,
): Promise<void> {
  await requirePermission(actor, "installation.configure", null, { what: "The installation" });
  await change(actor, providerId, { change: isDisabled ? "disabled" : "enabled" }, from, (tx) =>
    tx.inferenceProvider.update({ where: { id: providerId }, data: { disabledAt: isDisabled ? new Date() : null } }),
  );
}

/**
 * Deletes a provider with its key and its models. Their recorded use stays.
 * @throws ServiceError `not_found`, `forbidden`, `reauthentication_required`
 */
export async function removeProvider(actor: Actor, providerId: string, from: RequestOrigin): Promise<{ name: string }> {
  await requirePermission(actor, "installation.configure", null, { what: "The installation" });
  return change(actor, providerId, undefined, from, (tx) => tx.inferenceProvider.delete({ where: { id: providerId } }));
}

/** @param what changed; undefined: it is deleted. */
async function change(
  actor: Actor,
  providerId: string,
  what: { change: string } | undefined,
  from: RequestOrigin,
  work: (tx: Db) => Promise<unknown>,
): Promise<{ name: string }> {
  if (!isId(providerId)) throw notFound("Provider");
  return db().$transaction(async (tx) => {
    const [provider] = await tx.$queryRaw<{ name: string }[]>`
      SELECT name FROM inference_provider WHERE id = ${providerId} FOR UPDATE`;
    if (!provider) throw notFound("Provider");
    await work(tx);
    await recordAuditEvent(tx, {
      type: what ? "inference_provider.update" : "inference_provider.delete",
      actorId: actorId(actor),
      data: { providerId, name: provider.name, ...what },
      from,
    });
    return provider;
  });
}
