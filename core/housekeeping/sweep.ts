import type pg from "pg";
import { withDirectConnection } from "../db.ts";
import { log } from "../log.ts";
import { type Sweep, sweeps } from "./sweeps.ts";

const BATCH = 1_000;
// The number is arbitrary, but no other lock of the service may use it.
export const SWEEP_LOCK = 5_407_221;

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
      // Locked rows are skipped, because waiting for them could end in a deadlock.
      `delete from "${table}" where ctid = any (array (
        select ctid from "${table}" where ${condition} limit ${BATCH} for update skip locked))`,
    );
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) break;
  }
  return total;
}
