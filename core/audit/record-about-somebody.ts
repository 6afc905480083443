import type { Db } from "../db.ts";
import { log } from "../log.ts";
import { type NewAuditEvent, recordAuditEvent } from "./record-audit-event.ts";

/** Entries of one kind per hour about one user: for one app, and for all apps. So one app cannot use up what is recorded of the others. */
export const ENTRIES_ABOUT_IN_APP = 20;
export const ENTRIES_ABOUT = 200;

/**
 * Records what the service did about a user. No user acted, so no hourly allowance limits these entries, and a user can cause them again
 * and again with an app of their own (S144). The service must still act: beyond the limits, only its own log records it.
 */
export async function recordAboutSomebody(
  db: Db,
  event: NewAuditEvent & { subjectId: string | null; clientId: string | null },
): Promise<void> {
  const { type, subjectId, clientId } = event;
  const [recorded] = await db.$queryRaw<{ inApp: number; inAll: number }[]>`
    SELECT count(*) FILTER (WHERE client_id = ${clientId})::int AS "inApp", count(*)::int AS "inAll" FROM audit_event
    WHERE subject_id = ${subjectId} AND type = ${type} AND created_at > now() - interval '1 hour'`;
  if (recorded && (recorded.inApp >= ENTRIES_ABOUT_IN_APP || recorded.inAll >= ENTRIES_ABOUT)) {
    log().warn({ type, subjectId, clientId, data: event.data }, "not recorded in the audit log, as many were in this hour");
    return;
  }
  await recordAuditEvent(db, event);
}
