import { setTimeout as delay } from "node:timers/promises";
import { pool } from "../../db.ts";
import { joinFeed } from "../activity/activity-feed.ts";
import type { AttemptOutcome } from "../vocabulary.ts";

/** The result of an attempt that somebody waited for. */
export type AwaitedAttempt = {
  outcome: AttemptOutcome;
  /** Null if the target gave none. */
  status: number | null;
  /** Why it failed, as a clause. */
  reason: string | null;
  durationMs: number | null;
};

/** An attempt takes 15 seconds at most (S120), plus a moment until a worker finds it. */
export const WAIT_MS = 20_000;
/** In case a notification was missed. */
const POLL_MS = 1_000;

/**
 * Waits until one more attempt than before is recorded.
 * @param before how many attempts the delivery had
 * @returns undefined if the time is over first, or `signal` aborts: the delivery still waits to be sent
 */
export async function awaitAttempt(
  delivery: { id: string; webhookId: string },
  before: number,
  { waitMs = WAIT_MS, signal }: { waitMs?: number | undefined; signal?: AbortSignal | undefined } = {},
): Promise<AwaitedAttempt | undefined> {
  const over = AbortSignal.any([AbortSignal.timeout(waitMs), ...(signal ? [signal] : [])]);
  let wake: () => void = () => undefined;
  const { leave } = await joinFeed(delivery.webhookId, () => wake());
  try {
    while (true) {
      const news = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const attempt = await latestAttempt(delivery.id, before);
      if (attempt || over.aborted) return attempt;
      await Promise.race([news, delay(POLL_MS, undefined, { signal: over }).catch(() => undefined)]);
    }
  } finally {
    leave();
  }
}

type Row = { outcome: AttemptOutcome; status: number | null; reason: string | null; duration_ms: number | null };

// An attempt that hit a just closed kept connection is followed by the next at once; that one is the result.
async function latestAttempt(deliveryId: string, before: number): Promise<AwaitedAttempt | undefined> {
  const { rows } = await pool().query<Row>({
    name: "awaited-attempt",
    text: `SELECT d.last_outcome AS outcome, d.last_status AS status, d.last_duration_ms AS duration_ms, (
             SELECT a.reason FROM attempt a WHERE a.delivery_id = d.id AND a.number = d.attempts ORDER BY a.id DESC LIMIT 1) AS reason
           FROM delivery d WHERE d.id = $1 AND d.attempts > $2
             AND NOT (d.last_status IS NULL AND EXISTS (SELECT FROM delivery_queue q WHERE q.id = d.id AND q.due_at <= now()))`,
    values: [deliveryId, before],
  });
  const [row] = rows;
  return row && { outcome: row.outcome, status: row.status, reason: row.reason, durationMs: row.duration_ms };
}
