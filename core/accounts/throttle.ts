import { hashToken } from "../crypto/token.ts";
import { pool } from "../db.ts";
import { ServiceError } from "../errors.ts";
import { log } from "../log.ts";

export type ThrottleLimit = { limit: number; windowSeconds: number };

/**
 * Counts one attempt and refuses what is over the limit (S56, S115). The attempt is counted before it is made, in one
 * statement, so that a thousand parallel guesses cannot all pass a check that none has failed yet; what turns out to be
 * innocent is given back with `refundThrottle` or `clearThrottle`. Never part of a transaction: a rollback must not undo it.
 * @param key from `throttleKey`
 * @returns which attempt of the window this is
 * @throws ServiceError `rate_limited` with the seconds until the window ends
 */
export async function consumeThrottle(key: string, { limit, windowSeconds }: ThrottleLimit): Promise<number> {
  const { rows } = await pool().query<{ count: number; seconds: number }>({
    name: "consume-throttle",
    text: `INSERT INTO throttle AS t (key, count, reset_at) VALUES ($1, 1, now() + make_interval(secs => $2))
           ON CONFLICT (key) DO UPDATE SET
             count = CASE WHEN t.reset_at <= now() THEN 1 ELSE t.count + 1 END,
             reset_at = CASE WHEN t.reset_at <= now() THEN excluded.reset_at ELSE t.reset_at END
           RETURNING count, ceil(extract(epoch FROM reset_at - now()))::int AS seconds`,
    values: [key, windowSeconds],
  });
  const [row] = rows;
  if (!row || row.count <= limit) return row?.count ?? 0;
  log().info({ throttle: key.slice(0, key.indexOf(":")), count: row.count }, "too many attempts");
  const retryAfterSeconds = Math.max(1, row.seconds);
  throw new ServiceError("rate_limited", `Too many attempts. Try again in ${spoken(retryAfterSeconds)}.`, { retryAfterSeconds });
}

/** How many attempts count now. */
export async function throttleCount(key: string): Promise<number> {
  const { rows } = await pool().query<{ count: number }>("SELECT count FROM throttle WHERE key = $1 AND reset_at > now()", [key]);
  return rows[0]?.count ?? 0;
}

/** Gives one attempt back. */
export async function refundThrottle(key: string): Promise<void> {
  await pool().query("UPDATE throttle SET count = greatest(count - 1, 0) WHERE key = $1", [key]);
}

/** Forgets all attempts. */
export async function clearThrottle(...keys: string[]): Promise<void> {
  await pool().query("DELETE FROM throttle WHERE key = ANY($1)", [keys]);
}

/** The key of one kind of attempt by one subject. The subject (an address, a login) is hashed: it may be long, and is nobody's business. */
export function throttleKey(kind: string, subject: string): string {
  return `${kind}:${hashToken(subject)}`;
}

function spoken(seconds: number): string {
  if (seconds <= 90) return `${seconds} ${seconds === 1 ? "second" : "seconds"}`;
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
