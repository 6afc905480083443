import type { Actor } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { getApp } from "./get-app.ts";

const USAGE_DAYS = 30;

export type AppUsageDay = {
  day: string;
  authorizations: number;
  tokens: number;
  activeUsers: number;
};

export type AppUsage = {
  days: AppUsageDay[];
  total: { authorizations: number; tokens: number; activeUsers: number }; // Counts each active user once.
};

export async function appUsage(actor: Actor, appId: string): Promise<AppUsage> {
  const { app } = await getApp(actor, appId);
  const days = await db().$queryRaw<AppUsageDay[]>`
    SELECT to_char(series.day, 'YYYY-MM-DD') AS day,
           coalesce(usage.authorizations, 0) AS authorizations,
           coalesce(usage.tokens, 0) AS tokens,
           (SELECT count(*)::int FROM oauth_app_active_user active
             WHERE active.client_id = ${app.clientId} AND active.day = series.day::date) AS "activeUsers"
      FROM generate_series((now() AT TIME ZONE 'UTC')::date - ${USAGE_DAYS - 1}::int, (now() AT TIME ZONE 'UTC')::date, '1 day') AS series(day)
      LEFT JOIN oauth_app_usage usage ON usage.client_id = ${app.clientId} AND usage.day = series.day::date
     ORDER BY series.day`;
  const [{ people } = { people: 0 }] = await db().$queryRaw<{ people: number }[]>`
    SELECT count(DISTINCT user_id)::int AS people FROM oauth_app_active_user
     WHERE client_id = ${app.clientId} AND day > (now() AT TIME ZONE 'UTC')::date - ${USAGE_DAYS}::int`;
  const sum = (pick: (day: AppUsageDay) => number) => days.reduce((total, day) => total + pick(day), 0);
  return {
    days,
    total: { authorizations: sum((day) => day.authorizations), tokens: sum((day) => day.tokens), activeUsers: people },
  };
}
