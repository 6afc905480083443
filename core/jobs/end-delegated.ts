import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { Db } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { isBegun } from "./runs/change-run.ts";
import { JOB_CANCEL_CHANNEL, JOB_LOG_CHANNEL } from "./stages.ts";

type Ended = { id: string; ownerId: string; ownerKind: string; clientId: string | null };

const ENDED = Prisma.sql`id, owner_id AS "ownerId", owner_kind AS "ownerKind",
  (SELECT d.client_id FROM delegation d WHERE d.id = delegation_id) AS "clientId"`;

const orgOf = ({ ownerId, ownerKind }: Ended): string | null => (ownerKind === "organization" ? ownerId : null);

const SCHEDULE_MESSAGE =
  "The app or token that created, last changed or resumed this schedule no longer has access. Resume it to run it with your own permissions.";
const RUN_MESSAGE = "Cancelled: the app or token that started it no longer has access.";

/** @returns the number of schedules or of runs that ended, whichever is larger */
export async function endDelegatedJobs(tx: Db, delegationIds: readonly string[], most: number): Promise<number> {
  const schedules = await tx.$queryRaw<Ended[]>`
    UPDATE scheduled_job SET is_suspended = true, message = ${SCHEDULE_MESSAGE}, claim_id = NULL, claimed_until = NULL
    WHERE id IN (SELECT id FROM scheduled_job WHERE delegation_id = ANY (${[...delegationIds]}) AND NOT is_suspended LIMIT ${most})
    RETURNING ${ENDED}`;
  for (const schedule of schedules) {
    const data = {
      scheduleId: schedule.id,
      reason: "the app or token that created, last changed or resumed it no longer has access",
    };
    await recordAuditEvent(tx, { type: "scheduled_job.suspend", orgId: orgOf(schedule), clientId: schedule.clientId, data });
  }
  const runs = await tx.$queryRaw<Ended[]>`
    UPDATE job_run SET cancel_requested_at = now(),
      stage = CASE WHEN ${isBegun} THEN stage ELSE 'CANCELED' END,
      finished_at = CASE WHEN ${isBegun} THEN NULL ELSE now() END,
      claim_id = CASE WHEN ${isBegun} THEN claim_id END,
      message = CASE WHEN ${isBegun} THEN message ELSE ${RUN_MESSAGE} END
    WHERE id IN (SELECT id FROM job_run
      WHERE delegation_id = ANY (${[...delegationIds]}) AND finished_at IS NULL AND cancel_requested_at IS NULL LIMIT ${most})
    RETURNING ${ENDED}`;
  for (const run of runs) {
    const data = { runId: run.id, reason: "the app or token that started it no longer has access" };
    await recordAuditEvent(tx, { type: "job.cancel", orgId: orgOf(run), clientId: run.clientId, data });
    await tx.$executeRaw`SELECT pg_notify(${JOB_CANCEL_CHANNEL}, ${run.id}), pg_notify(${JOB_LOG_CHANNEL}, ${run.id})`;
  }
  return Math.max(schedules.length, runs.length);
}
