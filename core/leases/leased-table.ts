import { randomUUID } from "node:crypto";
import { pool } from "../db.ts";
import { claimShared, type Share } from "./claim-shared.ts";

/**
 * A table whose rows are work (docs/decisions/008). It has the columns `id`, `due_at`, `attempts`, `claim_id` and
 * `claimed_until`.
 *
 * A worker *claims* rows that are due: for the length of a *lease* they are its own. While it works it *renews* the lease;
 * when it dies, the lease runs out and any worker claims the row again. What a worker *records* of a row it records under its
 * claim, so that one that was away too long changes nothing of what another has taken over.
 */
export type LeasedTable = {
  name: string;
  /** The column that is its key, where that is not `id`; rows are returned with it as their `id` all the same. */
  key?: string;
  /** SQL that is true of a row whose work is not done. */
  isOpen: string;
  /** For work that takes a place for long. Without it rows are claimed first come, first served. */
  share?: Share;
};

/** How long a dead worker's rows wait for another one (S122: at most 30 seconds). */
export const LEASE_SECONDS = 30;

export type Claim<Row> = { claimId: string; rows: Row[] };

/**
 * Claims up to `limit` rows that are due, the longest due first or by turns, and counts an attempt of each.
 * @param free places that this worker has, where it has more than it claims now
 */
export async function claimRows<Row>(table: LeasedTable, limit: number, free = limit): Promise<Claim<Row>> {
  const { name, key = "id", isOpen, share } = table;
  const claimId = randomUUID();
  if (share)
    return {
      claimId,
      rows: await claimShared<Row>({ name, key, isOpen, share }, { claimId, limit, free, seconds: LEASE_SECONDS }),
    };
  const { rows } = await pool().query(
    `with due as (
       select "${key}" as id from "${name}"
       where ${isOpen} and due_at <= now() and (claimed_until is null or claimed_until <= now())
       order by due_at limit $1 for update skip locked
     )
     update "${name}" as work
     set claim_id = $2, claimed_until = now() + make_interval(secs => $3), attempts = attempts + 1
     from due where work."${key}" = due.id
     returning work.*, work."${key}" as id`,
    [limit, claimId, LEASE_SECONDS],
  );
  return { claimId, rows };
}

/** Holds on to claims for another lease. A claim that ran out and was taken by another worker stays theirs. */
export async function renewClaims({ name, isOpen }: LeasedTable, claimIds: string[]): Promise<void> {
  await pool().query(
    `update "${name}" set claimed_until = now() + make_interval(secs => $2) where claim_id = any ($1) and ${isOpen}`,
    [claimIds, LEASE_SECONDS],
  );
}
