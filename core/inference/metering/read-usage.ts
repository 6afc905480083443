import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { type Allowance, allowanceOf } from "./allowance.ts";
import { monthOf } from "./reserve.ts";

export type UsageLine = {
  clientId: string;
  orgName: string | null;
  isPaidByOrganization: boolean;
  model: string;
  requests: number;
  failures: number;
  promptTokens: number;
  completionTokens: number;
  estimatedTokens: number;
};

export type MonthOfUsage = {
  month: string;
  tokens: number;
  requests: number;
  underWay: number;
  allowance: Allowance;
  lines: UsageLine[];
  days: { day: string; tokens: number }[];
};

const LINES_MAX = 200;

export async function readUsage(actor: Actor, userId: string, now = new Date()): Promise<MonthOfUsage> {
  await requirePermission(actor, "inference.read_usage", { userId }, { what: "User" });
  const month = monthOf(now);
  const [lines, days, [meter]] = await Promise.all([
    db().$queryRaw<UsageLine[]>`
      SELECT u.client_id AS "clientId", o.name AS "orgName", u.org_id <> '' AS "isPaidByOrganization", u.model,
             sum(u.requests)::int AS requests, sum(u.failures)::int AS failures, sum(u.prompt_tokens)::float8 AS "promptTokens",
             sum(u.completion_tokens)::float8 AS "completionTokens", sum(u.estimated_tokens)::float8 AS "estimatedTokens"
        FROM inference_usage u LEFT JOIN organization o ON o.id = u.org_id
       WHERE u.user_id = ${userId} AND u.day >= ${month}::date
       GROUP BY u.client_id, o.name, u.org_id, u.model
       ORDER BY sum(u.prompt_tokens + u.completion_tokens) DESC, u.model LIMIT ${LINES_MAX}`,
    db().$queryRaw<{ day: string; tokens: number }[]>`
      SELECT to_char(d, 'YYYY-MM-DD') AS day, coalesce(sum(u.prompt_tokens + u.completion_tokens), 0)::float8 AS tokens
        FROM generate_series(${month}::date, (now() AT TIME ZONE 'UTC')::date, interval '1 day') d
        LEFT JOIN inference_usage u ON u.user_id = ${userId} AND u.day = d::date
       GROUP BY d ORDER BY d`,
    db().$queryRaw<
      { tokens: number; requests: number; underWay: number; monthlyTokens: number | null; monthlyRequests: number | null }[]
    >`
      WITH allowance AS (${allowanceOf({ ownerId: userId, orgId: null })})
      SELECT coalesce(max(m.tokens), 0)::float8 AS tokens, coalesce(max(m.requests), 0) AS requests,
             coalesce(max(m.reserved_requests), 0) AS "underWay",
             (SELECT monthly_tokens FROM allowance)::float8 AS "monthlyTokens",
             (SELECT monthly_requests FROM allowance) AS "monthlyRequests"
        FROM inference_meter m WHERE m.owner_id = ${userId} AND m.month = ${month}::date`,
  ]);
  const { monthlyTokens = null, monthlyRequests = null, tokens = 0, requests = 0, underWay = 0 } = meter ?? {};
  return {
    month,
    tokens,
    requests,
    underWay,
    allowance: { monthlyTokens, monthlyRequests },
    lines,
    days,
  };
}

export type Consumer = { ownerId: string; handle: string | null; tokens: number; requests: number };

export type InstallationUsage = { month: string; tokens: number; requests: number; consumers: Consumer[] };

const CONSUMERS_MAX = 10;

export async function readInstallationUsage(actor: Actor, now = new Date()): Promise<InstallationUsage> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const month = monthOf(now);
  const [[total], consumers] = await Promise.all([
    db().$queryRaw<{ tokens: number; requests: number }[]>`
      SELECT coalesce(sum(tokens), 0)::float8 AS tokens, coalesce(sum(requests), 0)::int AS requests
        FROM inference_meter WHERE month = ${month}::date`,
    db().$queryRaw<Consumer[]>`
      SELECT m.owner_id AS "ownerId", coalesce(u.username, o.name) AS handle, m.tokens::float8 AS tokens, m.requests
        FROM (SELECT * FROM inference_meter WHERE month = ${month}::date AND requests > 0 ORDER BY tokens DESC LIMIT ${CONSUMERS_MAX}) m
        LEFT JOIN "user" u ON u.id = m.owner_id LEFT JOIN organization o ON o.id = m.owner_id
       ORDER BY m.tokens DESC`,
  ]);
  return { month, tokens: total?.tokens ?? 0, requests: total?.requests ?? 0, consumers };
}
