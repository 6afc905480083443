import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { isId, newId } from "../../ids.ts";
import { MODELS_MAX, type NewModel, parseModel } from "../providers/provider.ts";

export type ModelInput = { name: string; upstreamName?: string; plans?: readonly string[] };

/**
 * Offers a provider's model under a name of ours.
 * @throws ServiceError `invalid_request`, `conflict` (the name is another model's), `not_found`, `forbidden`, `reauthentication_required`
 */
export async function addModel(actor: Actor, providerId: string, input: ModelInput, from: RequestOrigin): Promise<NewModel> {
  await requirePermission(actor, "installation.configure", null, { what: "The installation" });
  const model = parseModel(input);
  if (!isId(providerId)) throw notFound("Provider");
  await db().$transaction(async (tx) => {
    if (!(await tx.inferenceProvider.findUnique({ where: { id: providerId }, select: { id: true } }))) throw notFound("Provider");
    await insertModels(tx, providerId, [model]);
    await recordAuditEvent(tx, {
      type: "inference_model.create",
      actorId: actorId(actor),
      data: { providerId, ...model },
      from,
    });
  });
  return model;
}

/** @throws ServiceError `conflict` */
export async function insertModels(tx: Db, providerId: string, models: readonly NewModel[]): Promise<void> {
  if (models.length === 0) return;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('inference models', 0))`;
  const names = models.map(({ name }) => name);
  const taken = await tx.inferenceModel.findFirst({ where: { name: { in: names } }, select: { name: true } });
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (taken || twice !== undefined) {
    throw new ServiceError("conflict", `There is a model ${taken?.name ?? twice} already. Choose another name.`, {
      field: "model",
    });
  }
  if ((await tx.inferenceModel.count()) + models.length > MODELS_MAX) {
    throw new ServiceError("conflict", `There can be ${MODELS_MAX} models. Remove one first.`);
  }
  await tx.inferenceModel.createMany({ data: models.map((model) => ({ id: newId(), providerId, ...model })) });
}
