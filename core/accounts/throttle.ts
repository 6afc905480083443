import { waitInWords } from "../counted.ts";
import { hashToken } from "../crypto/token.ts";
import { type Db, pool, retryDeadlocks } from "../db.ts";
import { isServiceError, ServiceError } from "../errors.ts";
import { log } from "../log.ts";
import { batched } from "../postgres/batched.ts";
import { addressKey } from "./address-key.ts";

export type ThrottleLimit = { limit: number; windowSeconds: number };

type Counted = {
  count: number;
  /** Has no effect after the window of the attempt has ended. */
  giveBack: () => Promise<void>;
};

/**
 * Counts before the attempt, so that parallel guesses cannot all pass (S56, S115). Do not call this in a transaction, whose
 * rollback would undo the count.
 * @param key from `throttleKey`
 */
export async function consumeThrottle(key: string, { limit, windowSeconds }: ThrottleLimit): Promise<Counted> {
  const { count, seconds, resetAt } = await countAttempts({ key, attempts: 1, windowSeconds });
  if (count <= limit) return { count, giveBack: () => giveBack(key, resetAt) };
  throw tooMany(key, seconds);
}

export async function consumeBytes(
  key: string,
  data: string | Uint8Array | number,
  { limit, windowSeconds }: ThrottleLimit,
): Promise<void> {
  const attempts = typeof data === "number" ? data : Buffer.byteLength(data);
  if (attempts === 0) return;
  const { count, seconds } = await countAttempts({ key, attempts, windowSeconds });
  if (count > limit) throw tooMany(key, seconds);
}

function tooMany(key: string, seconds: number): ServiceError {
  log().info({ throttle: key.slice(0, key.indexOf(":")) }, "too many attempts");
  const retryAfterSeconds = Math.max(1, Math.ceil(seconds));
  return new ServiceError("rate_limited", `Too many attempts. Try again in ${waitInWords(retryAfterSeconds)}.`, {
    retryAfterSeconds,
  });
}

const BLOCKS = 100;

type Block = { left: number; isLast: boolean; endsAt: number };
const blocks = new Map<string, Promise<Block>>();

/** Each process counts a hundredth of the limit in advance, so few requests write. Use it for few keys: they stay in memory. */
export async function consumeInBlocks(key: string, limit: ThrottleLimit): Promise<void> {
  for (;;) {
    const counting = blocks.get(key) ?? countBlock(key, limit);
    blocks.set(key, counting);
    const block = await counting;
    const seconds = (block.endsAt - performance.now()) / 1_000;
    if (seconds > 0 && block.left-- > 0) return;
    if (seconds > 0 && block.isLast) throw tooMany(key, seconds);
    if (blocks.get(key) === counting) blocks.delete(key);
  }
}

async function countBlock(key: string, { limit, windowSeconds }: ThrottleLimit): Promise<Block> {
  const size = Math.ceil(limit / BLOCKS);
  try {
    const { count, seconds } = await countAttempts({ key, attempts: size, windowSeconds });
    return { left: size - Math.max(0, count - limit), isLast: count >= limit, endsAt: performance.now() + seconds * 1_000 };
  } catch (error) {
    blocks.delete(key);
    throw error;
  }
}

/** A count that no longer fits into the column would make the statement fail for all its keys. */
const COUNT_MAX = 2 ** 31 - 1;

type Attempts = { key: string; attempts: number; windowSeconds: number };
type Row = { key: string; count: number; seconds: number; resetAt: string };

const countAttempts = batched<Attempts, Row>(async (all) => {
  const byKey = [...Map.groupBy(all, ({ key }) => key)];
  const statement = {
    name: "consume-throttle",
    // Ordered by key, so that two such statements never wait for each other.
    text: `INSERT INTO throttle AS t (key, count, reset_at)
           SELECT key, count, now() + make_interval(secs => seconds) FROM unnest($1::text[], $2::int[], $3::int[]) AS a(key, count, seconds)
           ORDER BY key
           ON CONFLICT (key) DO UPDATE SET
             count = CASE WHEN t.reset_at <= now() THEN excluded.count ELSE least(t.count::bigint + excluded.count, ${COUNT_MAX})::int END,
             reset_at = CASE WHEN t.reset_at <= now() THEN excluded.reset_at ELSE t.reset_at END
           RETURNING key, count, extract(epoch FROM reset_at - now())::float8 AS seconds, reset_at::text AS "resetAt"`,
    values: [
      byKey.map(([key]) => key),
      byKey.map(([, same]) => same.reduce((sum, { attempts }) => sum + attempts, 0)),
      byKey.map(([, [first]]) => first?.windowSeconds ?? 0),
    ],
  };
  // A deletion of several rows may lock the rows in another order.
  const { rows } = await retryDeadlocks(() => pool().query<Row>(statement));
  const left = new Map(rows.map((row) => [row.key, row]));
  return all
    .toReversed()
    .map(({ key, attempts }) => {
      const row = left.get(key) as Row;
      left.set(key, { ...row, count: row.count - attempts });
      return row;
    })
    .toReversed();
}, 500);

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

export async function isWithinThrottle(
  tx: Db,
  key: string,
  { limit, windowSeconds }: ThrottleLimit,
  amount = 1,
): Promise<boolean> {
  const [counted] = await tx.$queryRaw<{ count: number }[]>`
    INSERT INTO throttle AS t (key, count, reset_at)
    VALUES (${key}, ${amount}::int, now() + make_interval(secs => ${windowSeconds}::int))
    ON CONFLICT (key) DO UPDATE SET count = CASE WHEN t.reset_at <= now() THEN excluded.count ELSE t.count + excluded.count END,
      reset_at = CASE WHEN t.reset_at <= now() THEN excluded.reset_at ELSE t.reset_at END
    RETURNING count`;
  return (counted?.count ?? 0) <= limit;
}

const HOUR = 60 * 60;
/** The limit for one address or host. The caller sets the limit per subject. */
export const ENTRIES_OF_SOURCE: ThrottleLimit = { limit: 300, windowSeconds: HOUR };
export const ENTRIES_IN_ALL: ThrottleLimit = { limit: 3_000, windowSeconds: HOUR };

/**
 * Limits entries, because nobody can delete them (S144).
 * @param kind each kind has limits of its own
 * @param subject what the entry is about
 * @param ip pass this or `host`. Omit both only if nobody can invent subjects.
 */
export async function mayRecord(
  kind: string,
  { subject, limit, ip, host }: { subject: string; limit: number; ip?: string | null; host?: string },
): Promise<boolean> {
  const counters: [string, ThrottleLimit][] = [[throttleKey(kind, subject), { limit, windowSeconds: HOUR }]];
  if (ip !== undefined || host !== undefined) {
    const source = host ?? addressKey(ip ?? null, 48) ?? "unknown";
    counters.push([throttleKey(`${kind}-source`, source), ENTRIES_OF_SOURCE], [throttleKey(`${kind}-all`, ""), ENTRIES_IN_ALL]);
  }
  try {
    await consumeThrottles(counters);
    return true;
  } catch (error) {
    if (isServiceError(error) && error.code === "rate_limited") return false;
    throw error;
  }
}

/** One customer may have a /48, which contains 65,536 networks. All of them together get the limit of this many. */
const NETWORKS_OF_CUSTOMER = 10;

/** Invalid addresses share one counter. A null address is not counted. */
export function addressCounters(kind: string, ip: string | null, limit: ThrottleLimit): [key: string, limit: ThrottleLimit][] {
  const [network, customer] = [addressKey(ip), addressKey(ip, 48)];
  if (!network || !customer) return ip === null ? [] : [[throttleKey(kind, "unknown"), limit]];
  const ofNetwork: [string, ThrottleLimit] = [throttleKey(kind, network), limit];
  if (network === customer) return [ofNetwork];
  return [ofNetwork, [throttleKey(kind, customer), { ...limit, limit: limit.limit * NETWORKS_OF_CUSTOMER }]];
}

export function consumeAddressThrottle(kind: string, ip: string | null, limit: ThrottleLimit): Promise<Counted[]> {
  return consumeThrottles(addressCounters(kind, ip, limit));
}

/**
 * Refuses an attempt without counting it. If a transaction increments the counter, counting would wait for the transaction's
 * lock, and so would all callers of the same statement (S137).
 */
export async function requireBelowThrottle(key: string, { limit }: ThrottleLimit): Promise<void> {
  const { rows } = await pool().query<{ seconds: number }>(
    "SELECT extract(epoch FROM reset_at - now())::float8 AS seconds FROM throttle WHERE key = $1 AND reset_at > now() AND count >= $2",
    [key, limit],
  );
  if (rows[0]) throw tooMany(key, rows[0].seconds);
}

export async function throttleCount(key: string): Promise<number> {
  const { rows } = await pool().query<{ count: number }>("SELECT count FROM throttle WHERE key = $1 AND reset_at > now()", [key]);
  return rows[0]?.count ?? 0;
}

/** Deletes the row when its count is zero, because sign-ins with made-up names would each leave a row (S143). */
async function giveBack(key: string, resetAt: string): Promise<void> {
  await pool().query("UPDATE throttle SET count = greatest(count - 1, 0) WHERE key = $1 AND reset_at = $2::timestamptz", [
    key,
    resetAt,
  ]);
  await pool().query("DELETE FROM throttle WHERE key = $1 AND reset_at = $2::timestamptz AND count = 0", [key, resetAt]);
}

export async function clearThrottle(...keys: string[]): Promise<void> {
  await pool().query("DELETE FROM throttle WHERE key = ANY($1)", [keys]);
}

/** The subject is hashed, because it is private and may be long. */
export function throttleKey(kind: string, subject: string): string {
  return `${kind}:${hashToken(subject)}`;
}
