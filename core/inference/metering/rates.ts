import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { counted, waitInWords } from "../../counted.ts";
import { db } from "../../db.ts";
import { invalidRequest, isServiceError, ServiceError } from "../../errors.ts";
import type { InferenceAccount } from "./allowance.ts";

/** Requests per minute. */
export type InferenceRates = { perUser: number; perApp: number };

const RATES_KEY = "inference_rates";
const DEFAULT_RATES: InferenceRates = { perUser: 60, perApp: 600 };
const RATE_MAX = 100_000;
const WINDOW_SECONDS = 60;

/** A newer or an older version may have written this value. */
function ratesOf(value: unknown): InferenceRates {
  const { perUser, perApp } = Object(value) as Partial<Record<keyof InferenceRates, unknown>>;
  const or = (rate: unknown, otherwise: number) => (Number.isInteger(rate) && Number(rate) > 0 ? Number(rate) : otherwise);
  return { perUser: or(perUser, DEFAULT_RATES.perUser), perApp: or(perApp, DEFAULT_RATES.perApp) };
}

export async function readRates(): Promise<InferenceRates> {
  return ratesOf((await db().setting.findUnique({ where: { key: RATES_KEY } }))?.value);
}

export async function setRates(actor: Actor, input: { perUser: string; perApp: string }, from: RequestOrigin): Promise<void> {
  const value = { perUser: parseRate("perUser", input.perUser), perApp: parseRate("perApp", input.perApp) };
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const change = { value, updatedAt: new Date() };
    await tx.setting.upsert({ where: { key: RATES_KEY }, create: { key: RATES_KEY, ...change }, update: change });
    await recordAuditEvent(tx, { type: "inference_rates.set", actor, data: value, from });
  });
}

function parseRate(field: string, text: string): number {
  const rate = /^\d{1,6}$/.test(text.trim()) ? Number(text) : 0;
  if (rate < 1 || rate > RATE_MAX)
    throw invalidRequest(`Enter a whole number from 1 to ${RATE_MAX.toLocaleString("en")}.`, field);
  return rate;
}

export async function countRequest({ userId, clientId }: InferenceAccount, { perUser, perApp }: InferenceRates): Promise<void> {
  await within(`inference-user:${userId}`, perUser, `You can make ${counted(perUser, "request")} per minute.`);
  if (clientId) await within(`inference-app:${clientId}`, perApp, `This app can make ${counted(perApp, "request")} per minute.`);
}

async function within(subject: string, limit: number, sentence: string): Promise<void> {
  await consumeThrottle(throttleKey("inference", subject), { limit, windowSeconds: WINDOW_SECONDS }).catch((error: unknown) => {
    if (!isServiceError(error) || error.code !== "rate_limited") throw error;
    const { retryAfterSeconds = WINDOW_SECONDS } = error;
    throw new ServiceError("rate_limited", `${sentence} Try again in ${waitInWords(retryAfterSeconds)}.`, { retryAfterSeconds });
  });
}
