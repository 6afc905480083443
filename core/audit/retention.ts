import { db } from "../db.ts";

/** How long contents of the log are kept: a year and the time to look back at it. */
export const DEFAULT_KEEP_DAYS = 400;
/** No fewer, whoever asks: the database refuses it too (`expire_audit_events`). */
export const LEAST_KEEP_DAYS = 90;
export const MOST_KEEP_DAYS = 3_660;

export const RETENTION_KEY = "audit_retention";

export type AuditRetention = {
  /** Null: for ever. */
  keepDays: number | null;
};

/** How long the log is kept, as an operator has set it. */
export async function readAuditRetention(): Promise<AuditRetention> {
  const row = await db().setting.findUnique({ where: { key: RETENTION_KEY } });
  const keepDays = (row?.value as { keepDays?: unknown } | undefined)?.keepDays;
  if (keepDays === null) return { keepDays };
  return { keepDays: typeof keepDays === "number" ? Math.max(keepDays, LEAST_KEEP_DAYS) : DEFAULT_KEEP_DAYS };
}
