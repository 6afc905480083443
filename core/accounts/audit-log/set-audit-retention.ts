import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type AuditRetention, LEAST_KEEP_DAYS, MOST_KEEP_DAYS, RETENTION_KEY } from "../../audit/retention.ts";
import { db } from "../../db.ts";
import { invalidRequest } from "../../errors.ts";

/** Requires recent authentication (S113). Entries whose content is deleted keep their positions in the chain. */
export async function setAuditRetention(actor: Actor, { keepDays }: AuditRetention, from: RequestOrigin): Promise<void> {
  const isPossible =
    Number.isInteger(keepDays) && (keepDays as number) >= LEAST_KEEP_DAYS && (keepDays as number) <= MOST_KEEP_DAYS;
  if (keepDays !== null && !isPossible) {
    throw invalidRequest(`Enter a number of days from ${LEAST_KEEP_DAYS} to ${MOST_KEEP_DAYS.toLocaleString("en")}.`, "days");
  }
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const row = { key: RETENTION_KEY, value: { keepDays }, updatedAt: new Date() };
    await tx.setting.upsert({ where: { key: RETENTION_KEY }, create: row, update: row });
    const data = { days: keepDays ?? "unlimited" };
    await recordAuditEvent(tx, { type: "audit_log.set_retention", actor, data, from });
  });
}
