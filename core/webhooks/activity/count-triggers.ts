import { pool } from "../../db.ts";
import { env } from "../../env.ts";

/** How many triggers a webhook may have in 24 hours (S127). */
export const TRIGGER_LIMIT = (): number => env().WEBHOOK_TRIGGERS_PER_DAY;

/** A webhook's triggers as its limit counts them: in the current hour and the 24 before it (S127). */
export async function countTriggers(webhookId: string): Promise<number> {
  const { rows } = await pool().query<{ count: number }>({
    name: "webhook-triggers",
    text: `SELECT coalesce(sum(triggered), 0)::int AS count FROM webhook_hour h
           WHERE webhook_id = $1 AND h.hour >= date_trunc('hour', now(), 'UTC') - interval '24 hours'`,
    values: [webhookId],
  });
  return rows[0]?.count ?? 0;
}
