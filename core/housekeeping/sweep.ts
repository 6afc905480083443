import type pg from "pg";
import { withDirectConnection } from "../db.ts";
import { log } from "../log.ts";
import { type Sweep, sweeps } from "./sweeps.ts";

/** Rows deleted by one statement: few enough to hold their locks for milliseconds only. */
const BATCH = 1_000;
// Any number not used for another lock of ours.
export const SWEEP_LOCK = 5_407_221;

/**
 * Deletes expired rows, in small batches. One process at a time does it; another one does nothing meanwhile.
 * @param stopping ends it between two batches.
 * @returns how many rows were deleted, by table; only tables that lost some.
 */
export async function sweep(stopping: AbortSignal, plan: readonly Sweep[] = sweeps): Promise<Record<string, number>> {
  return withDirectConnection(async (client) => {
    const { rows } = await client.query<{ isOurs: boolean }>(`select pg_try_advisory_lock($1) as "isOurs"`, [SWEEP_LOCK]);
    if (!rows[0]?.isOurs) return {};
    const swept: Record<string, number> = {};
    for (const each of plan) {
      try {
        const count = await sweepTable(client, each, stopping);
        if (count > 0) swept[each.table] = count;
      } catch (error) {
        // One table must not keep all others from being swept.
        log().error({ err: error, table: each.table }, "a table could not be swept; trying again next time");
      }
    }
    await client.query("select pg_advisory_unlock($1)", [SWEEP_LOCK]);
    return swept;
  });
}

async function sweepTable(client: pg.PoolClient, { table, isOver }: Sweep, stopping: AbortSignal): Promise<number> {
  const condition = typeof isOver === "function" ? isOver() : isOver;
  let total = 0;
  while (!stopping.aborted) {
    const { rowCount } = await client.query(
      // A row that somebody has locked is left for the next time: waiting for it while holding others could end in a deadlock.
      `delete from "${table}" where ctid = any (array (
        select ctid from "${table}" where ${condition} limit ${BATCH} for update skip locked))`,
    );
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) break;
  }
  return total;
}
