import { pool } from "../../db.ts";
import type { InferenceAccount } from "./inference-account.ts";
import type { Reservation } from "./reserve.ts";
import type { TokenCount } from "./token-count.ts";

/** How a request ended: what it used, or undefined if the provider did not respond, which costs nothing. */
export type Settlement = { model: string; used: TokenCount | undefined };

/**
 * Releases what a request had reserved, and records what it used: on the meter, and for the day. One statement, so that either all of it is
 * stored or nothing.
 */
export async function settle(account: InferenceAccount, reservation: Reservation, { model, used }: Settlement): Promise<void> {
  const { prompt, completion, isEstimated } = used ?? { prompt: 0, completion: 0, isEstimated: false };
  const total = prompt + completion;
  await pool().query({
    name: "settle-inference",
    text: `WITH gone AS (DELETE FROM inference_reservation WHERE id = $1),
           metered AS (
             INSERT INTO inference_meter AS m (owner_id, month, tokens, requests) VALUES ($2, $3::date, $4, $5)
             ON CONFLICT (owner_id, month) DO UPDATE SET tokens = m.tokens + excluded.tokens, requests = m.requests + excluded.requests)
           INSERT INTO inference_usage AS u
             (user_id, day, client_id, org_id, model, requests, failures, prompt_tokens, completion_tokens, estimated_tokens)
           VALUES ($6, (now() AT TIME ZONE 'UTC')::date, $7, $8, $9, $5, $10, $11, $12, $13)
           ON CONFLICT (user_id, day, client_id, org_id, model) DO UPDATE SET
             requests = u.requests + excluded.requests, failures = u.failures + excluded.failures,
             prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
             completion_tokens = u.completion_tokens + excluded.completion_tokens,
             estimated_tokens = u.estimated_tokens + excluded.estimated_tokens`,
    values: [
      reservation.id,
      reservation.ownerId,
      reservation.month,
      total,
      used ? 1 : 0,
      account.userId,
      account.clientId,
      account.orgId ?? "",
      model,
      used ? 0 : 1,
      prompt,
      completion,
      isEstimated ? total : 0,
    ],
  });
}
