import { type Actor, actorId } from "../../access/actor.ts";
import { type ActsFor, findDelegate, recordDelegation } from "../../access/delegation.ts";
import { may } from "../../access/may.ts";
import { lockOwner } from "../../accounts/handles/find-owner.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { conflict, isServiceError } from "../../errors.ts";
import type { JobNamespace } from "../find-job-namespace.ts";
import { createRun, requireRoom } from "../runs/request-run.ts";
import { requireSpace } from "../runs/require-offered.ts";
import { namespaceOf, type RunOwner, storedSpecSchema } from "../runs/run.ts";
import { unsealJobSecrets } from "../secrets.ts";
import { isOver, type JobStage } from "../stages.ts";
import { changeSchedule, type ScheduleOf } from "./find-schedule.ts";
import { nextRunAt } from "./next-run-at.ts";
import type { ScheduleRow } from "./schedule.ts";

export type ClaimedSchedule = { id: string; owner_id: string; owner_kind: string };

/** One transaction creates the run and sets the next time, so that no due time runs twice. */
export async function startDueRun(claimed: ClaimedSchedule, claimId: string): Promise<void> {
  await db().$transaction(async (tx) => {
    // The owner is locked first, as in the owner's deletion, to avoid a deadlock.
    const isLive = await lockOwner(tx, ownerOf({ ownerId: claimed.owner_id, ownerKind: claimed.owner_kind }));
    const [held] = await tx.$queryRaw<{ now: Date; dueAt: Date }[]>`
      SELECT clock_timestamp() AS "now", due_at AS "dueAt" FROM scheduled_job
      WHERE id = ${claimed.id} AND claim_id = ${claimId} AND claimed_until > clock_timestamp()
        AND NOT is_suspended AND due_at <= clock_timestamp()
      FOR UPDATE`;
    if (!held) return;
    const row = await tx.scheduledJob.findUniqueOrThrow({ where: { id: claimed.id } });
    const refusal = isLive ? await refusalOf(tx, row) : NO_RIGHT;
    if (refusal) return suspend(tx, row, refusal);
    const outcome = await runUnlessBusy(tx, row, held.dueAt);
    await tx.scheduledJob.update({
      where: { id: row.id },
      data: {
        ...outcome,
        // The database's time is used, because this machine's clock may be wrong.
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
    return { message: `${due} was skipped: the previous run was still running.` };
  try {
    return { lastRunId: await startRunOf(tx, row, row), message: null };
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return { message: `${due} was skipped: ${error.message}` };
  }
}

type Refusal = { message: string; reason: string };

const NO_RIGHT: Refusal = {
  message:
    "The user or app that created, last changed or resumed this schedule no longer has permission to run it. Resume it to run it with your own permissions.",
  reason: "whoever created, last changed or resumed it no longer has permission to run it",
};

async function refusalOf(tx: Db, row: ScheduleRow): Promise<Refusal | undefined> {
  const delegate = await findDelegate(row, tx);
  if (!delegate || !(await may(delegate, "job.run", namespaceOf(ownerOf(row)), tx))) return NO_RIGHT;
  try {
    await requireSpace(tx, delegate, storedSpecSchema.parse(row.spec));
    return undefined;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return error.code === "conflict" ? { message: error.message, reason: error.message } : NO_RIGHT;
  }
}

async function suspend(tx: Db, { id, ownerId, ownerKind }: ScheduleRow, { message, reason }: Refusal): Promise<void> {
  await tx.scheduledJob.update({
    where: { id },
    data: { isSuspended: true, message, attempts: 0, claimId: null, claimedUntil: null },
  });
  await recordAuditEvent(tx, {
    type: "scheduled_job.suspend",
    orgId: ownerKind === "organization" ? ownerId : null,
    data: { scheduleId: id, reason },
  });
}

export async function runScheduleNow(
  actor: Actor,
  of: ScheduleOf,
  from: RequestOrigin,
): Promise<{ owner: JobNamespace; runId: string }> {
  return changeSchedule(actor, of, async (tx, row, owner) => {
    if (!row.mayOverlap && (await isRunning(tx, row))) {
      const sentence =
        "The last run is still running, and this schedule does not allow overlapping runs. Wait for it to finish, or cancel it.";
      throw conflict(sentence);
    }
    const { dockerImage, spaceId } = await requireSpace(tx, actor, storedSpecSchema.parse(row.spec));
    const by = { createdById: actorId(actor), delegationId: await recordDelegation(tx, actor) };
    const runId = await startRunOf(tx, row, by);
    await tx.scheduledJob.update({ where: { id: row.id }, data: { lastRunId: runId } });
    await recordAuditEvent(tx, {
      type: "job.run",
      actor,
      owner,
      data: { runId, scheduleId: row.id, image: dockerImage ?? spaceId ?? "" },
      from,
    });
    return { owner, runId };
  });
}

/** The caller must have locked the schedule's row. */
async function startRunOf(tx: Db, row: ScheduleRow, by: Pick<ActsFor, "createdById" | "delegationId">): Promise<string> {
  await requireRoom(tx, { id: row.ownerId });
  return createRun(tx, {
    owner: ownerOf(row),
    ...{ createdById: by.createdById, delegationId: by.delegationId },
    initiator: { type: "scheduled-job", id: row.id },
    spec: storedSpecSchema.parse(row.spec),
    secrets: unsealJobSecrets(row.secrets),
  });
}

async function isRunning(tx: Db, { lastRunId }: Pick<ScheduleRow, "lastRunId">): Promise<boolean> {
  if (!lastRunId) return false;
  const last = await tx.jobRun.findUnique({ where: { id: lastRunId }, select: { stage: true } });
  return last !== null && !isOver(last.stage as JobStage);
}

function ownerOf({ ownerId, ownerKind }: Pick<ScheduleRow, "ownerId" | "ownerKind">): RunOwner {
  return { kind: ownerKind === "organization" ? "organization" : "user", id: ownerId };
}
