import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { Db } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { JOB_CANCEL_CHANNEL, JOB_LOG_CHANNEL } from "./stages.ts";

type Ended = { id: string; ownerId: string; ownerKind: string; clientId: string | null };

const ENDED = Prisma.sql`id, owner_id AS "ownerId", owner_kind AS "ownerKind",
  (SELECT d.client_id FROM delegation d WHERE d.id = delegation_id) AS "clientId"`;

const orgOf = ({ ownerId, ownerKind }: Ended): string | null => (ownerKind === "organization" ? ownerId : null);

const SCHEDULE_MESSAGE =
  "The access of the app or token that created this schedule has ended. Resume it to run it with your own rights.";
const RUN_MESSAGE = "Cancelled: the access of the app or token that started it has ended.";

/** Pauses the schedules and cancels the runs of ended delegations: waiting runs at once, others as soon as a worker hears. */
export async function endDelegatedJobs(tx: Db, delegationIds: readonly string[]): Promise<void> {
  const schedules = await tx.$queryRaw<Ended[]>`
    UPDATE scheduled_job SET is_suspended = true, message = ${SCHEDULE_MESSAGE}, claim_id = NULL, claimed_until = NULL
    WHERE delegation_id = ANY (${[...delegationIds]}) AND NOT is_suspended
    RETURNING ${ENDED}`;
  for (const schedule of schedules) {
    const data = { scheduleId: schedule.id, reason: "the access of whatever made it has ended" };
    await recordAuditEvent(tx, { type: "scheduled_job.suspend", orgId: orgOf(schedule), clientId: schedule.clientId, data });
  }
  const runs = await tx.$queryRaw<Ended[]>`
    UPDATE job_run SET cancel_requested_at = now(),
      stage = CASE WHEN claimed_until > now() THEN stage ELSE 'CANCELED' END,
      finished_at = CASE WHEN claimed_until > now() THEN NULL ELSE now() END,
      claim_id = CASE WHEN claimed_until > now() THEN claim_id END,
      message = CASE WHEN claimed_until > now() THEN message ELSE ${RUN_MESSAGE} END
    WHERE delegation_id = ANY (${[...delegationIds]}) AND finished_at IS NULL AND cancel_requested_at IS NULL
    RETURNING ${ENDED}`;
  for (const run of runs) {
    const data = { runId: run.id, reason: "the access of whatever started it has ended" };
    await recordAuditEvent(tx, { type: "job.cancel", orgId: orgOf(run), clientId: run.clientId, data });
    await tx.$executeRaw`SELECT pg_notify(${JOB_CANCEL_CHANNEL}, ${run.id}), pg_notify(${JOB_LOG_CHANNEL}, ${run.id})`;
  }
}
