import { pool } from "../../db.ts";
import { newOrderedId } from "../../ids.ts";
import { readAuditRetention } from "../retention.ts";

/** Entries per call: few enough to hold the locks only for moments. */
const BATCH = 5_000;

/**
 * Deletes the contents of entries older than the retention, in the only possible way: through the database function of the same name, with
 * its owner's rights and limits. Their seals stay in the chain, and each batch adds an entry of its own.
 * @param stopping ends it between two batches
 * @returns how many were deleted
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
