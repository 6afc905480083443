import { setTimeout as delay } from "node:timers/promises";
import { pool } from "../db.ts";
import { conflict } from "../errors.ts";

const KEY = "deletions_held";
const LEASE_SECONDS = 120;
const RENEW_MS = 30_000;
const POLL_MS = 500;

export const DELETIONS_HELD = `exists (select from setting where key = '${KEY}' and (value->>'until')::timestamptz > now())`;

export const REMOVAL_LOCK = "hashtextextended('removal of deleted repositories', 0)";

export async function areDeletionsHeld(): Promise<boolean> {
  const { rows } = await pool().query<{ isHeld: boolean }>(`select ${DELETIONS_HELD} as "isHeld"`);
  return rows[0]?.isHeld ?? false;
}

export type HeldDeletions = {
  /** Aborts when the hold could not be renewed in time. */
  lost: AbortSignal;
  release(): Promise<void>;
};

/**
 * Makes maintenance and sweeps wait. Returns when the maintenance and the removal of files that are already running have ended.
 * The hold is a row with an expiry instead of a session lock, because a backup takes hours, and may reach the database through a
 * pooler.
 * @throws ServiceError `conflict` if another backup holds deletions
 */
export async function holdDeletions(): Promise<HeldDeletions> {
  const { rowCount } = await pool().query(
    `insert into setting as held (key, value, updated_at) values ($1, ${UNTIL}, now())
     on conflict (key) do update set value = excluded.value, updated_at = now()
      where (held.value->>'until')::timestamptz <= now()`,
    [KEY],
  );
  if (rowCount === 0) {
    throw conflict(
      `Another backup is running. Try again when it has finished or, if it was killed, in ${LEASE_SECONDS / 60} minutes.`,
    );
  }
  const lost = new AbortController();
  let renewedAt = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - renewedAt > LEASE_SECONDS * 1_000) lost.abort();
    else
      void pool()
        .query(`update setting set value = ${UNTIL} where key = $1 and (value->>'until')::timestamptz > now()`, [KEY])
        .then(({ rowCount }) => {
          if (rowCount === 0) lost.abort();
          renewedAt = Date.now();
        })
        .catch(() => undefined); // tried again; the lease is longer
  }, RENEW_MS);
  const release = async () => {
    clearInterval(timer);
    if (!lost.signal.aborted) await pool().query("delete from setting where key = $1", [KEY]);
  };
  try {
    await waitForMaintenance();
    while (!(await mayRemove())) await delay(POLL_MS);
  } catch (error) {
    await release();
    throw error;
  }
  return { lost: lost.signal, release };
}

const UNTIL = `jsonb_build_object('until', now() + interval '${LEASE_SECONDS} seconds')`;

/** A worker claims a row before it checks for holds, so a worker that has not seen the hold already has a claim. */
async function waitForMaintenance(): Promise<void> {
  const claims = await pool().query<{ id: string }>(
    "select claim_id::text as id from repo_maintenance where claim_id is not null and claimed_until > now()",
  );
  const ids = claims.rows.map(({ id }) => id);
  for (let isRunning = ids.length > 0; isRunning; await delay(isRunning ? POLL_MS : 0)) {
    const { rowCount } = await pool().query(
      "select from repo_maintenance where claim_id::text = any ($1) and claimed_until > now() limit 1",
      [ids],
    );
    isRunning = rowCount !== 0;
  }
}

/** The lock ends with the statement. */
async function mayRemove(): Promise<boolean> {
  const { rows } = await pool().query<{ isFree: boolean }>(`select pg_try_advisory_xact_lock(${REMOVAL_LOCK}) as "isFree"`);
  return rows[0]?.isFree ?? false;
}
