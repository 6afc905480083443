import { jobSpecSchema } from "@keyhook/sdk";
import { findDelegate } from "../../access/delegation.ts";
import { may } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import { type Db, db } from "../../db.ts";
import { isServiceError } from "../../errors.ts";
import { lockRunOwner } from "../lock-run-owner.ts";
import { requireSpace } from "../runs/require-offered.ts";
import { namespaceOf } from "../runs/run.ts";
import { nextRunAt } from "./next-run-at.ts";
import type { ScheduleRow } from "./schedule.ts";
import { isRunning, ownerOf, startRunOf } from "./start-run-of.ts";

/** A claimed schedule: the row with the table's column names. */
export type ClaimedSchedule = { id: string; owner_id: string; owner_kind: string };

/**
 * Runs a due schedule: creates one run and sets the next time, in one transaction and under its claim, so that each due time runs once,
 * however many workers there are and whenever one of them dies. Missed times run once, together.
 */
export async function startDueRun(claimed: ClaimedSchedule, claimId: string): Promise<void> {
  await db().$transaction(async (tx) => {
    // Locks the owner first, as a deletion of the owner does.
    const isLive = await lockRunOwner(tx, ownerOf({ ownerId: claimed.owner_id, ownerKind: claimed.owner_kind }));
    const [held] = await tx.$queryRaw<{ now: Date; dueAt: Date }[]>`
      SELECT clock_timestamp() AS "now", due_at AS "dueAt" FROM scheduled_job
      WHERE id = ${claimed.id} AND claim_id = ${claimId} AND claimed_until > clock_timestamp()
        AND NOT is_suspended AND due_at <= clock_timestamp()
      FOR UPDATE`;
    if (!held) return;
    const row = await tx.scheduledJob.findUniqueOrThrow({ where: { id: claimed.id } });
    if (!(isLive && (await mayStillRun(tx, row)))) return suspend(tx, row);
    const outcome = await runUnlessBusy(tx, row, held.dueAt);
    await tx.scheduledJob.update({
      where: { id: row.id },
      data: {
        ...outcome,
        // Later than the due time handled now, whatever this machine's clock says.
        dueAt: nextRunAt(row, new Date(Math.max(held.now.getTime(), held.dueAt.getTime()))),
        attempts: 0,
        claimId: null,
        claimedUntil: null,
      },
    });
  });
}

type Outcome = { lastRunId?: string; message: string | null };

async function runUnlessBusy(tx: Db, row: ScheduleRow, dueAt: Date): Promise<Outcome> {
  const due = `The run due at ${dueAt.toISOString()}`;
  if (!row.mayOverlap && (await isRunning(tx, row)))
    return { message: `${due} was left out: the one before was still going on.` };
  try {
    return { lastRunId: await startRunOf(tx, row, row), message: null };
  } catch (error) {
    // If a limit is reached now, this run is skipped; the next may succeed.
    if (!isServiceError(error)) throw error;
    return { message: `${due} was left out: ${error.message}` };
  }
}

/**
 * A schedule has the current rights of the user or token that created or resumed it: none once they have left or the grant has ended, and
 * none to a Space that they cannot read any more.
 */
async function mayStillRun(tx: Db, row: ScheduleRow): Promise<boolean> {
  const delegate = await findDelegate(row, tx);
  if (!delegate || !(await may(delegate, "job.run", namespaceOf(ownerOf(row)), tx))) return false;
  try {
    await requireSpace(tx, delegate, jobSpecSchema.parse(row.spec));
    return true;
  } catch (error) {
    if (isServiceError(error)) return false;
    throw error;
  }
}

async function suspend(tx: Db, { id, ownerId, ownerKind }: ScheduleRow): Promise<void> {
  const message =
    "Whoever made this schedule, or the app that did, may not run it any more. Resume it to have it run in your name.";
  await tx.scheduledJob.update({
    where: { id },
    data: { isSuspended: true, message, attempts: 0, claimId: null, claimedUntil: null },
  });
  await recordAuditEvent(tx, {
    type: "scheduled_job.suspend",
    orgId: ownerKind === "organization" ? ownerId : null,
    data: { scheduleId: id, reason: "whoever made it may not run it any more" },
  });
}
