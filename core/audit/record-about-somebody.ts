import type { Db } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { log } from "../log.ts";
import { type NewAuditEvent, recordAuditEvent } from "./record-audit-event.ts";

/** One app must not use up the limit of the others. */
export const ENTRIES_ABOUT_IN_APP = 20;
export const ENTRIES_ABOUT = 200;

/** Anybody can repeat such actions, so the audit log has a limited number of them (S144). Returns whether it has this one. */
export async function recordAboutSomebody(
  db: Db,
  event: NewAuditEvent & { subjectId: string | null; clientId: string | null },
): Promise<boolean> {
  const { type, actorId, subjectId, clientId, orgId = null } = event;
  const whose = actorId
    ? Prisma.sql`actor_id = ${actorId}`
    : subjectId
      ? Prisma.sql`subject_id = ${subjectId}`
      : Prisma.sql`org_id = ${orgId} AND subject_id IS NULL`;
  const [recorded] = await db.$queryRaw<{ inApp: number; inAll: number }[]>`
    SELECT count(*) FILTER (WHERE client_id = ${clientId})::int AS "inApp", count(*)::int AS "inAll" FROM audit_event
    WHERE ${whose} AND type = ${type} AND created_at > now() - interval '1 hour'`;
  if (recorded && (recorded.inApp >= ENTRIES_ABOUT_IN_APP || recorded.inAll >= ENTRIES_ABOUT)) {
    log().warn(
      { type, subjectId, orgId, clientId, data: event.data },
      "not recorded in the audit log: this hour's limit is reached",
    );
    return false;
  }
  await recordAuditEvent(db, event);
  return true;
}
