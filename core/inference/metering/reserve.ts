import { counted } from "../../counted.ts";
import { db, pool } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { allowanceOf, type InferenceAccount } from "./allowance.ts";
import type { TokenCount } from "./token-count.ts";

type Reservation = { id: string; ownerId: string; month: string };

export const REQUEST_MAX_MS = 30 * 60_000;
const EXPIRES_AFTER_SECONDS = REQUEST_MAX_MS / 1000 + 5 * 60;
const UNDER_WAY_MAX = { user: 32, organization: 256 };
const WAIT_SECONDS = 5;

/** One statement locks the meter's row, so that parallel requests see each other's reservations. */
export async function reserve(account: InferenceAccount, tokens: number): Promise<Reservation> {
  const reservation = { id: newId(), ownerId: account.ownerId, month: monthOf(new Date()) };
  if (await tryToReserve(account, reservation, tokens)) return reservation;
  const { rowCount } = await pool().query("DELETE FROM inference_reservation WHERE owner_id = $1 AND expires_at < now()", [
    account.ownerId,
  ]);
  if (rowCount && (await tryToReserve(account, reservation, tokens))) return reservation;
  throw await refusal(account, reservation.month);
}

async function tryToReserve(account: InferenceAccount, { id, ownerId, month }: Reservation, tokens: number): Promise<boolean> {
  const most = underWayMax(account);
  const rows = await db().$queryRaw<unknown[]>`
    WITH allowance AS (${allowanceOf(account)}),
    meter AS (
      INSERT INTO inference_meter AS m (owner_id, month, reserved_tokens, reserved_requests)
      SELECT ${ownerId}, ${month}::date, ${tokens}::bigint, 1
       WHERE NOT EXISTS (SELECT FROM allowance WHERE monthly_tokens <= 0 OR monthly_requests <= 0)
      ON CONFLICT (owner_id, month) DO UPDATE
         SET reserved_tokens = m.reserved_tokens + excluded.reserved_tokens, reserved_requests = m.reserved_requests + 1
       WHERE m.reserved_requests < ${most}
         AND NOT EXISTS (SELECT FROM allowance WHERE monthly_tokens <= m.tokens + m.reserved_tokens
                                                  OR monthly_requests <= m.requests + m.reserved_requests)
      RETURNING 1)
    INSERT INTO inference_reservation (id, owner_id, month, tokens, expires_at)
    SELECT ${id}, ${ownerId}, ${month}::date, ${tokens}::bigint, now() + make_interval(secs => ${EXPIRES_AFTER_SECONDS}) FROM meter
    RETURNING 1`;
  return rows.length > 0;
}

async function refusal(account: InferenceAccount, month: string): Promise<ServiceError> {
  const [row] = await db().$queryRaw<
    { tokenLimit: bigint | null; requestLimit: number | null; tokens: bigint; requests: number; underWay: number }[]
  >`
    WITH allowance AS (${allowanceOf(account)})
    SELECT (SELECT monthly_tokens FROM allowance) AS "tokenLimit", (SELECT monthly_requests FROM allowance) AS "requestLimit",
           m.tokens, m.requests, m.reserved_requests AS "underWay"
      FROM inference_meter m WHERE m.owner_id = ${account.ownerId} AND m.month = ${month}::date`;
  const { tokenLimit = null, requestLimit = null, tokens = 0n, requests = 0, underWay = 0 } = row ?? {};
  const [whose, who] = account.orgId ? ["The organization's", "This organization"] : ["Your", "You"];
  const until = `The allowance is reset on ${nextMonth(month)}.`;
  if (requestLimit === 0 || tokenLimit === 0n || !row) {
    return new ServiceError(
      "quota_exceeded",
      `${who} cannot use inference: the allowance is 0. Contact the operator of this service.`,
    );
  }
  if (requestLimit !== null && requests >= requestLimit) {
    return new ServiceError(
      "quota_exceeded",
      `${whose} allowance of ${counted(requestLimit, "request")} for this month is used up. ${until}`,
    );
  }
  if (tokenLimit !== null && tokens >= tokenLimit) {
    const limit = counted(Number(tokenLimit), "token");
    return new ServiceError("quota_exceeded", `${whose} allowance of ${limit} for this month is used up. ${until}`);
  }
  const why =
    underWay >= underWayMax(account)
      ? `${underWay} requests are in progress, which is the maximum.`
      : `The rest of this month's allowance is reserved for ${counted(underWay, "request")} in progress.`;
  return new ServiceError("rate_limited", `${why} Try again when one has finished.`, { retryAfterSeconds: WAIT_SECONDS });
}

const underWayMax = ({ orgId }: InferenceAccount): number => (orgId ? UNDER_WAY_MAX.organization : UNDER_WAY_MAX.user);

export function monthOf(at: Date): string {
  return `${at.toISOString().slice(0, 7)}-01`;
}

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });

function nextMonth(month: string): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return day.format(new Date(Date.UTC(year, number, 1)));
}

type Settlement = { model: string; used: TokenCount | undefined };

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
