import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { RequestOrigin } from "../audit/request-origin.ts";
import { type Db, db } from "../db.ts";
import { conflict, invalidRequest, notFound, ServiceError } from "../errors.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { isId, newId } from "../ids.ts";
import type { InferenceAccount } from "./metering/allowance.ts";
import { MODELS_MAX, type NewModel, parseModel } from "./providers/provider.ts";

export type UsableModel = {
  name: string;
  upstreamName: string;
  provider: { id: string; name: string; baseUrl: string; sealedApiKey: Uint8Array | null; isOwnNetworkAllowed: boolean };
};

const MODELS_LISTED_MAX = 500;

const usable = ({ orgId }: InferenceAccount) => Prisma.sql`p.disabled_at IS NULL AND (m.plans = '{}' OR EXISTS (
  SELECT FROM organization o WHERE o.id = ${orgId} AND o.plan = ANY(m.plans)))`;

/** The error does not show whether the model exists (S136). */
export async function findModel(account: InferenceAccount, name: unknown): Promise<UsableModel> {
  if (typeof name !== "string" || name === "") throw invalidRequest("Send the name of a model from GET /v1/models.", "model");
  const isName = name.length <= 200 && /^[\x21-\x7e]+$/.test(name);
  const [row] = isName
    ? await db().$queryRaw<(UsableModel["provider"] & { model: string; upstreamName: string })[]>`
        SELECT m.name AS model, m.upstream_name AS "upstreamName", p.id, p.name, p.base_url AS "baseUrl",
               p.sealed_api_key AS "sealedApiKey", p.is_own_network_allowed AS "isOwnNetworkAllowed"
          FROM inference_model m JOIN inference_provider p ON p.id = m.provider_id
         WHERE m.name = ${name} AND ${usable(account)}`
    : [];
  if (!row) {
    const subject = isName ? `The model ${name}` : "The requested model";
    throw new ServiceError(
      "not_found",
      `${subject} does not exist, or you cannot use it. GET /v1/models lists the models that you can use.`,
      {
        field: "model",
      },
    );
  }
  const { model, upstreamName, ...provider } = row;
  return { name: model, upstreamName, provider };
}

type ListedModel = { name: string; createdAt: Date; providerName: string };

export async function listModels(account: InferenceAccount): Promise<ListedModel[]> {
  return db().$queryRaw<ListedModel[]>`
    SELECT m.name, m.created_at AS "createdAt", p.name AS "providerName"
      FROM inference_model m JOIN inference_provider p ON p.id = m.provider_id
     WHERE ${usable(account)} ORDER BY m.name LIMIT ${MODELS_LISTED_MAX}`;
}

type ModelInput = { name: string; upstreamName?: string; plans?: readonly string[] };

export async function addModel(actor: Actor, providerId: string, input: ModelInput, from: RequestOrigin): Promise<NewModel> {
  const model = parseModel(input);
  if (!isId(providerId)) throw notFound("Provider");
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    if (!(await tx.inferenceProvider.findUnique({ where: { id: providerId }, select: { id: true } }))) throw notFound("Provider");
    await insertModels(tx, providerId, [model]);
    await recordAuditEvent(tx, { type: "inference_model.create", actor, data: { providerId, ...model }, from });
  });
  return model;
}

export async function insertModels(tx: Db, providerId: string, models: readonly NewModel[]): Promise<void> {
  if (models.length === 0) return;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('inference models', 0))`;
  const names = models.map(({ name }) => name);
  const taken = await tx.inferenceModel.findFirst({ where: { name: { in: names } }, select: { name: true } });
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (taken || twice !== undefined) {
    throw conflict(`The model ${taken?.name ?? twice} already exists. Choose another name.`, "model");
  }
  if ((await tx.inferenceModel.count()) + models.length > MODELS_MAX) {
    throw conflict(`There are already ${MODELS_MAX} models. Remove one first.`);
  }
  await tx.inferenceModel.createMany({ data: models.map((model) => ({ id: newId(), providerId, ...model })) });
}

export async function removeModel(actor: Actor, modelId: string, from: RequestOrigin): Promise<{ name: string }> {
  if (!isId(modelId)) throw notFound("Model");
  return db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const [model] = await tx.$queryRaw<{ name: string; providerId: string }[]>`
      DELETE FROM inference_model WHERE id = ${modelId} RETURNING name, provider_id AS "providerId"`;
    if (!model) throw notFound("Model");
    await recordAuditEvent(tx, { type: "inference_model.delete", actor, data: model, from });
    return model;
  });
}
