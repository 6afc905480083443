import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { insertModels } from "../models/add-model.ts";
import { PROVIDERS_MAX, parseApiKey, parseBaseUrl, parseModel, parseProviderName, sealedKey } from "./provider.ts";

export type ProviderInput = {
  name: string;
  baseUrl: string;
  apiKey?: string | null;
  /** Whether it may have a private address (docs/decisions/047). */
  isOwnNetworkAllowed?: boolean;
  models?: readonly { name: string; upstreamName?: string | undefined; plans?: readonly string[] }[];
};

/**
 * Adds a provider to which inference requests are passed. Its key is stored sealed and never shown again.
 * @throws ServiceError `invalid_request`, `conflict` (its name or a model's is taken), `forbidden`, `reauthentication_required`
 */
export async function addProvider(
  actor: Actor,
  input: ProviderInput,
  from: RequestOrigin,
): Promise<{ id: string; name: string }> {
  await requirePermission(actor, "installation.configure", null, { what: "The installation" });
  const [name, baseUrl, key] = [parseProviderName(input.name), parseBaseUrl(input.baseUrl), parseApiKey(input.apiKey)];
  const models = (input.models ?? []).map(parseModel);
  const isOwnNetworkAllowed = input.isOwnNetworkAllowed === true;
  if (baseUrl.startsWith("http:") && !isOwnNetworkAllowed) {
    throw new ServiceError(
      "invalid_request",
      "Use https, or say that it is in your own network: prompts and the key would go in the clear.",
      {
        field: "baseUrl",
      },
    );
  }
  const id = newId();
  await db().$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('inference providers', 0))`;
    const others = await tx.inferenceProvider.findMany({ select: { name: true } });
    if (others.some((other) => other.name.toLowerCase() === name.toLowerCase())) {
      throw new ServiceError("conflict", "There is a provider of this name. Choose another.", { field: "name" });
    }
    if (others.length >= PROVIDERS_MAX) {
      throw new ServiceError("conflict", `There are ${PROVIDERS_MAX} providers. Remove one first.`);
    }
    await tx.inferenceProvider.create({ data: { id, name, baseUrl, isOwnNetworkAllowed, ...sealedKey(key) } });
    await insertModels(tx, id, models);
    await recordAuditEvent(tx, {
      type: "inference_provider.create",
      actorId: actorId(actor),
      data: { providerId: id, name, baseUrl, isOwnNetworkAllowed, models: models.map((model) => model.name) },
      from,
    });
  });
  return { id, name };
}
