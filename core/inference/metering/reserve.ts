import { db, pool } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { allowanceOf } from "./allowance.ts";
import type { InferenceAccount } from "./inference-account.ts";

/** What a request under way has reserved; it is settled when the request ends. */
export type Reservation = { id: string; ownerId: string; month: string };

/** The longest duration of a request; with a margin, an older reservation belongs to a killed process. */
export const REQUEST_MAX_MS = 30 * 60_000;
const EXPIRES_AFTER_SECONDS = REQUEST_MAX_MS / 1000 + 5 * 60;
/** Concurrent requests of a user and of an organization: slow responses hold connections. */
const UNDER_WAY_MAX = { user: 32, organization: 256 };
const WAIT_SECONDS = 5;

/**
 * Reserves tokens for a request that begins, in one statement that locks the meter's row: each of any number of parallel requests sees what
 * the others have reserved. A request may begin while anything is left, so a month is exceeded by at most the length of its last request.
 * @throws ServiceError `quota_exceeded`; `rate_limited` while too many are under way
 */
export async function reserve(account: InferenceAccount, tokens: number): Promise<Reservation> {
  const reservation = { id: newId(), ownerId: account.ownerId, month: monthOf(new Date()) };
  if (await tryToReserve(account, reservation, tokens)) return reservation;
  // Before refusing because of what killed processes left behind:
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

/** Finds out which limit was reached. */
async function refusal(account: InferenceAccount, month: string): Promise<ServiceError> {
  const [row] = await db().$queryRaw<
    { tokenLimit: bigint | null; requestLimit: number | null; tokens: bigint; requests: number; underWay: number }[]
  >`
    WITH allowance AS (${allowanceOf(account)})
    SELECT (SELECT monthly_tokens FROM allowance) AS "tokenLimit", (SELECT monthly_requests FROM allowance) AS "requestLimit",
           m.tokens, m.requests, m.reserved_requests AS "underWay"
      FROM inference_meter m WHERE m.owner_id = ${account.ownerId} AND m.month = ${month}::date`;
  const { tokenLimit = null, requestLimit = null, tokens = 0n, requests = 0, underWay = 0 } = row ?? {};
  const whose = account.orgId ? "The organization's" : "Your";
  const until = `It begins anew on ${nextMonth(month)}.`;
  if (requestLimit !== null && requests >= requestLimit) {
    return new ServiceError(
      "quota_exceeded",
      `${whose} ${counted(requestLimit, "request")} for this month are used up. ${until}`,
    );
  }
  if (!row || (tokenLimit !== null && tokens >= tokenLimit)) {
    const limit = tokenLimit === null ? "allowance" : counted(Number(tokenLimit), "token");
    return new ServiceError("quota_exceeded", `${whose} ${limit} for this month ${row ? "are" : "is"} used up. ${until}`);
  }
  const why =
    underWay >= underWayMax(account)
      ? `${underWay} requests are under way, as many as may be at the same time.`
      : `What is left for this month is put aside for ${counted(underWay, "request")} under way.`;
  return new ServiceError("rate_limited", `${why} Try again when one has ended.`, { retryAfterSeconds: WAIT_SECONDS });
}

const underWayMax = ({ orgId }: InferenceAccount): number => (orgId ? UNDER_WAY_MAX.organization : UNDER_WAY_MAX.user);

const counted = (count: number, what: string): string => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

/** The first day of a month, UTC, as `2026-11-01`. */
export function monthOf(at: Date): string {
  return `${at.toISOString().slice(0, 7)}-01`;
}

function nextMonth(month: string): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const first = new Date(Date.UTC(year, number, 1));
  return new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" }).format(first);
}
