import { hashToken } from "../crypto/token.ts";
import { pool } from "../db.ts";
import { isServiceError, ServiceError } from "../errors.ts";
import { log } from "../log.ts";
import { addressKey } from "./address-key.ts";

export type ThrottleLimit = { limit: number; windowSeconds: number };

/** A counted attempt. */
export type Counted = {
  /** The number of this attempt in its window, from 1. */
  count: number;
  /** Takes the attempt off its own window. Once that has ended it does nothing, so that the next window's count does not shrink. */
  giveBack: () => Promise<void>;
};

/**
 * Counts one attempt and refuses it if it is over the limit (S56, S115). The attempt is counted before it is made, in one
 * statement, so that a thousand parallel guesses cannot all pass a check before the first has failed; innocent ones are given
 * back, or cleared with `clearThrottle`. Never part of a transaction: a rollback must not undo it.
 * @param key from `throttleKey`
 * @throws ServiceError `rate_limited` with the seconds until the window ends
 */
export async function consumeThrottle(key: string, { limit, windowSeconds }: ThrottleLimit): Promise<Counted> {
  const { rows } = await pool().query<{ count: number; seconds: number; resetAt: string }>({
    name: "consume-throttle",
    text: `INSERT INTO throttle AS t (key, count, reset_at) VALUES ($1, 1, now() + make_interval(secs => $2))
           ON CONFLICT (key) DO UPDATE SET
             count = CASE WHEN t.reset_at <= now() THEN 1 ELSE t.count + 1 END,
             reset_at = CASE WHEN t.reset_at <= now() THEN excluded.reset_at ELSE t.reset_at END
           RETURNING count, ceil(extract(epoch FROM reset_at - now()))::int AS seconds, reset_at::text AS "resetAt"`,
    values: [key, windowSeconds],
  });
  const { count, seconds, resetAt } = rows[0] as (typeof rows)[number];
  if (count <= limit) return { count, giveBack: () => giveBack(key, resetAt) };
  log().info({ throttle: key.slice(0, key.indexOf(":")), count }, "too many attempts");
  const retryAfterSeconds = Math.max(1, seconds);
  throw new ServiceError("rate_limited", `Too many attempts. Try again in ${spoken(retryAfterSeconds)}.`, { retryAfterSeconds });
}

/**
 * Counts one attempt with each counter. If one of them refuses, the attempt does not count, and the others give it back.
 * @throws ServiceError `rate_limited`
 */
export async function consumeThrottles(counters: [key: string, limit: ThrottleLimit][]): Promise<Counted[]> {
  const counted: Counted[] = [];
  try {
    for (const [key, limit] of counters) counted.push(await consumeThrottle(key, limit));
    return counted;
  } catch (error) {
    await Promise.all(counted.map(({ giveBack }) => giveBack()));
    throw error;
  }
}

/** How many refusals are recorded an hour, per /48 of an address and in total. The caller sets the limit per subject. */
const HOUR = 60 * 60;
export const REFUSALS_OF_ADDRESS: ThrottleLimit = { limit: 300, windowSeconds: HOUR };
export const REFUSALS_IN_ALL: ThrottleLimit = { limit: 3_000, windowSeconds: HOUR };

/**
 * Whether one more refusal is recorded in the audit log, where nobody can delete it (S144): anybody can cause any number of
 * refusals.
 * @param kind of refusal; each kind has its own limits
 * @param subject what was refused, with how many refusals of it are recorded in an hour
 * @param ip absent where subjects are known ones, which count for themselves alone
 */
export async function isRefusalRecorded(
  kind: string,
  { subject, limit, ip }: { subject: string; limit: number; ip?: string | null },
): Promise<boolean> {
  const ofSubject: [string, ThrottleLimit] = [throttleKey(kind, subject), { limit, windowSeconds: HOUR }];
  const ofAnybody = (from: string | null): [string, ThrottleLimit][] => [
    [throttleKey(`${kind}-address`, addressKey(from, 48) ?? "unknown"), REFUSALS_OF_ADDRESS],
    [throttleKey(`${kind}-all`, ""), REFUSALS_IN_ALL],
  ];
  try {
    await consumeThrottles(ip === undefined ? [ofSubject] : [ofSubject, ...ofAnybody(ip)]);
    return true;
  } catch (error) {
    if (isServiceError(error) && error.code === "rate_limited") return false;
    throw error;
  }
}

/** One customer may have a /48, and thus 65,536 separately counted networks. Together they get as much as this many. */
const NETWORKS_OF_CUSTOMER = 10;

/** The counters for attempts of one kind from an address. Invalid addresses share one; unknown ones (null) are not counted. */
export function addressCounters(kind: string, ip: string | null, limit: ThrottleLimit): [key: string, limit: ThrottleLimit][] {
  const [network, customer] = [addressKey(ip), addressKey(ip, 48)];
  if (!network || !customer) return ip === null ? [] : [[throttleKey(kind, "unknown"), limit]];
  const ofNetwork: [string, ThrottleLimit] = [throttleKey(kind, network), limit];
  if (network === customer) return [ofNetwork];
  return [ofNetwork, [throttleKey(kind, customer), { ...limit, limit: limit.limit * NETWORKS_OF_CUSTOMER }]];
}

/** Counts one attempt from an address. @throws ServiceError `rate_limited` */
export function consumeAddressThrottle(kind: string, ip: string | null, limit: ThrottleLimit): Promise<Counted[]> {
  return consumeThrottles(addressCounters(kind, ip, limit));
}

/** The number of attempts that count now. */
export async function throttleCount(key: string): Promise<number> {
  const { rows } = await pool().query<{ count: number }>("SELECT count FROM throttle WHERE key = $1 AND reset_at > now()", [key]);
  return rows[0]?.count ?? 0;
}

async function giveBack(key: string, resetAt: string): Promise<void> {
  await pool().query("UPDATE throttle SET count = greatest(count - 1, 0) WHERE key = $1 AND reset_at = $2::timestamptz", [
    key,
    resetAt,
  ]);
}

/** Forgets all attempts. */
export async function clearThrottle(...keys: string[]): Promise<void> {
  await pool().query("DELETE FROM throttle WHERE key = ANY($1)", [keys]);
}

/** The key of one kind of attempt by one subject. The subject (an address, a login) is hashed: it may be long, and is private. */
export function throttleKey(kind: string, subject: string): string {
  return `${kind}:${hashToken(subject)}`;
}

function spoken(seconds: number): string {
  if (seconds <= 90) return `${seconds} ${seconds === 1 ? "second" : "seconds"}`;
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
