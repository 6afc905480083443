import type { Db } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { log } from "../log.ts";
import { type NewAuditEvent, recordAuditEvent } from "./record-audit-event.ts";

/**
 * Entries of one kind per hour about one user or organization, with one app and with all apps, so that one app cannot use up the limit of
 * the others.
 */
export const ENTRIES_ABOUT_IN_APP = 20;
export const ENTRIES_ABOUT = 200;

/**
 * Records an action of the service that affects a user, or else an organization, such as a revocation or a refusal. The action
 * happens even if it is not recorded. Users can cause it again and again with an app of their own, and no allowance limits them
 * (S144), so beyond these limits only the service's log has it. An action that another user caused counts for that user, not for
 * the affected one: otherwise users could use up their own limit in one organization, and so stay out of another one's log.
 * @returns whether the audit log has it
 */
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
