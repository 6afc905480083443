import { db, pool } from "../db.ts";
import { newOrderedId } from "../ids.ts";

const DEFAULT_KEEP_DAYS = 400;
/** The database enforces this minimum too (`expire_audit_events`). */
export const LEAST_KEEP_DAYS = 90;
export const MOST_KEEP_DAYS = 3_660;

export const RETENTION_KEY = "audit_retention";

export type AuditRetention = {
  keepDays: number | null;
};

export async function readAuditRetention(): Promise<AuditRetention> {
  const row = await db().setting.findUnique({ where: { key: RETENTION_KEY } });
  const keepDays = (row?.value as { keepDays?: unknown } | undefined)?.keepDays;
  if (keepDays === null) return { keepDays };
  return { keepDays: typeof keepDays === "number" ? Math.max(keepDays, LEAST_KEEP_DAYS) : DEFAULT_KEEP_DAYS };
}

const BATCH = 5_000;

/** Only the database function has the right to delete. Seals stay in the chain. `stopping` ends the work between two batches. */
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
