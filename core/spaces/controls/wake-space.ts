import { consumeThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import { pool } from "../../db.ts";
import { currentParty } from "../../fair-queue/party.ts";
import { SPACE_PARTY } from "../space-runtime.ts";
import { SPACE_CHANNEL } from "../stages.ts";

const RESOLUTION_SECONDS = 30;
const RESOLUTION_MS = RESOLUTION_SECONDS * 1_000;
const noted = new Map<string, number>();

/** A visitor may wake Spaces of this many accounts, and this many of each, because a woken Space may take another's slot. */
export const WAKES: ThrottleLimit = { limit: 8, windowSeconds: 5 * 60 };

/** A Space counts as awaited for this long, because a browser that was told to retry needs some seconds. */
export const AWAITED_SECONDS = 15;
const AWAITED_RESOLUTION_SECONDS = 5;

const waking = new Map<string, Promise<void>>();

export async function wakeSpace(repoId: string): Promise<void> {
  const visitor = currentParty().key;
  const key = `${repoId} ${visitor}`;
  const wakeUp = waking.get(key) ?? wake(repoId, visitor).finally(() => waking.delete(key));
  waking.set(key, wakeUp);
  return wakeUp;
}

async function wake(repoId: string, visitor: string): Promise<void> {
  const { rows } = await pool().query<{ account: string }>(
    `SELECT ${SPACE_PARTY} AS account FROM space_runtime WHERE repo_id = $1 AND stage IN ('SLEEPING', 'STOPPED')`,
    [repoId],
  );
  if (!rows[0]) return;
  await countWake(visitor, rows[0].account);
  await pool().query(
    `WITH woken AS (
       UPDATE space_runtime SET stage = 'APP_STARTING', message = NULL, is_wanted = true, restarts = 0, due_at = now(), updated_at = now(),
         last_request_at = now(), awaited_at = now()
       WHERE repo_id = $1 AND stage IN ('SLEEPING', 'STOPPED') RETURNING repo_id
     ) SELECT pg_notify($2, repo_id) FROM woken`,
    [repoId, SPACE_CHANNEL],
  );
}

async function countWake(visitor: string, account: string): Promise<void> {
  const ofAccount = await consumeThrottle(throttleKey("space-wake", `${visitor}\n${account}`), WAKES);
  if (ofAccount.count > 1) return;
  try {
    await consumeThrottle(throttleKey("space-wake", visitor), WAKES);
  } catch (error) {
    await ofAccount.giveBack();
    throw error;
  }
}

export async function noteWaiting(repoId: string): Promise<void> {
  await pool().query(
    "UPDATE space_runtime SET awaited_at = now() WHERE repo_id = $1 AND is_wanted AND awaited_at < now() - make_interval(secs => $2)",
    [repoId, AWAITED_RESOLUTION_SECONDS],
  );
}

export async function noteRequest(repoId: string, now = Date.now()): Promise<void> {
  if (now - (noted.get(repoId) ?? 0) < RESOLUTION_MS) return;
  if (noted.size > 10_000) noted.clear();
  noted.set(repoId, now);
  await pool().query(
    `UPDATE space_runtime SET last_request_at = now()
      WHERE repo_id = $1 AND (last_request_at IS NULL OR last_request_at < now() - make_interval(secs => $2))`,
    [repoId, RESOLUTION_SECONDS],
  );
}
