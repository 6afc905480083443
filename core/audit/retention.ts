import { db } from "../db.ts";

/** How long the log's contents are kept: a year, plus time to look back at it. */
export const DEFAULT_KEEP_DAYS = 400;
/** The minimum, for everyone: the database enforces it too (`expire_audit_events`). */
export const LEAST_KEEP_DAYS = 90;
export const MOST_KEEP_DAYS = 3_660;

export const RETENTION_KEY = "audit_retention";

export type AuditRetention = {
  /** Null: forever. */
  keepDays: number | null;
};

/** How long the log is kept, as set by an operator. */
export async function readAuditRetention(): Promise<AuditRetention> {
  const row = await db().setting.findUnique({ where: { key: RETENTION_KEY } });
  const keepDays = (row?.value as { keepDays?: unknown } | undefined)?.keepDays;
  if (keepDays === null) return { keepDays };
  return { keepDays: typeof keepDays === "number" ? Math.max(keepDays, LEAST_KEEP_DAYS) : DEFAULT_KEEP_DAYS };
}
