import type { Db } from "../db.ts";
import { log } from "../log.ts";
import { type NewAuditEvent, recordAuditEvent } from "./record-audit-event.ts";

/** Entries of one kind in an hour about one person, of one app and of all apps. One app cannot use up what is recorded of the others. */
export const ENTRIES_ABOUT_IN_APP = 20;
export const ENTRIES_ABOUT = 200;

/**
 * Records what the service did about a person. Nobody acted, so nobody's hourly allowance bounds these entries, and a person can cause
 * them again and again with an app of their own (S144). The service must do it all the same: past the limits only its own log says so.
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
