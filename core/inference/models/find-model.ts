import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import type { InferenceAccount } from "../metering/inference-account.ts";
import { type InferenceRates, RATES_KEY, ratesOf } from "../metering/rates.ts";

/** A usable model, how its provider is reached, and the rate limits. */
export type UsableModel = {
  name: string;
  rates: InferenceRates;
  upstreamName: string;
  provider: { id: string; name: string; baseUrl: string; sealedApiKey: Uint8Array | null; isOwnNetworkAllowed: boolean };
};

const MODELS_LISTED_MAX = 500;

/** Models of enabled providers that are for everybody or for the plan of the paying organization. */
const usable = ({ orgId }: InferenceAccount) => Prisma.sql`p.disabled_at IS NULL AND (m.plans = '{}' OR EXISTS (
  SELECT FROM organization o WHERE o.id = ${orgId} AND o.plan = ANY(m.plans)))`;

/** @throws ServiceError `not_found`, whether it does not exist or is not for this account (S136) */
export async function findModel(account: InferenceAccount, name: unknown): Promise<UsableModel> {
  if (typeof name !== "string" || name === "") {
    throw new ServiceError("invalid_request", "Name the model, as GET /v1/models lists it.", { field: "model" });
  }
  const isName = name.length <= 200 && /^[\x21-\x7e]+$/.test(name);
  const [row] = isName
    ? await db().$queryRaw<(UsableModel["provider"] & { model: string; upstreamName: string; rates: unknown })[]>`
        SELECT m.name AS model, m.upstream_name AS "upstreamName", p.id, p.name, p.base_url AS "baseUrl",
               p.sealed_api_key AS "sealedApiKey", p.is_own_network_allowed AS "isOwnNetworkAllowed",
               (SELECT value FROM setting WHERE key = ${RATES_KEY}) AS rates
          FROM inference_model m JOIN inference_provider p ON p.id = m.provider_id
         WHERE m.name = ${name} AND ${usable(account)}`
    : [];
  if (!row) {
    const known = isName ? name : "asked for";
    throw new ServiceError(
      "not_found",
      `The model ${known} does not exist, or you may not use it. GET /v1/models lists those that you may.`,
      {
        field: "model",
      },
    );
  }
  const { model, upstreamName, rates, ...provider } = row;
  return { name: model, upstreamName, provider, rates: ratesOf(rates) };
}

export type ListedModel = { name: string; createdAt: Date; providerName: string };

/** The models that an account may use, by name. */
export async function listModels(account: InferenceAccount): Promise<ListedModel[]> {
  return db().$queryRaw<ListedModel[]>`
    SELECT m.name, m.created_at AS "createdAt", p.name AS "providerName"
      FROM inference_model m JOIN inference_provider p ON p.id = m.provider_id
     WHERE ${usable(account)} ORDER BY m.name LIMIT ${MODELS_LISTED_MAX}`;
}
