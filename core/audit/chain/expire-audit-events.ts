import { pool } from "../../db.ts";
import { newOrderedId } from "../../ids.ts";
import { readAuditRetention } from "../retention.ts";

/** Entries by one call: few enough to hold their locks for moments. */
const BATCH = 5_000;

/**
 * Removes the contents of entries that are older than the log is kept, by the only way there is (the function of the same name in the
 * database, with its owner's rights and bounds). Their places in the chain stay, and each batch is an entry of its own.
 * @param stopping ends it between two batches
 * @returns how many went
 */
export async function expireAuditEvents(stopping: AbortSignal): Promise<number> {
  const { keepDays } = await readAuditRetention();
  let total = 0;
  while (keepDays !== null && !stopping.aborted) {
    const { rows } = await pool().query<{ removed: string }>("SELECT expire_audit_events($1, $2, $3) AS removed", [
      keepDays,
      BATCH,
      newOrderedId(),
    ]);
    const removed = Number(rows[0]?.removed);
    total += removed;
    if (removed < BATCH) break;
  }
  return total;
}
