import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";

/** Stops offering a model. Its recorded use stays. @throws ServiceError `not_found`, `forbidden`, `reauthentication_required` */
export async function removeModel(actor: Actor, modelId: string, from: RequestOrigin): Promise<{ name: string }> {
  await requirePermission(actor, "installation.configure", null, { what: "The installation" });
  if (!isId(modelId)) throw notFound("Model");
  return db().$transaction(async (tx) => {
    const [model] = await tx.$queryRaw<{ name: string; providerId: string }[]>`
      DELETE FROM inference_model WHERE id = ${modelId} RETURNING name, provider_id AS "providerId"`;
    if (!model) throw notFound("Model");
    await recordAuditEvent(tx, { type: "inference_model.delete", actorId: actorId(actor), data: model, from });
    return model;
  });
}
