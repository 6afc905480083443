import type { JobSpec } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { recordDelegation } from "../../access/delegation.ts";
import { lockOwner } from "../../accounts/handles/find-owner.ts";
import type { AuditEventType } from "../../audit/event-types.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction } from "../../db.ts";
import { conflict, notFound } from "../../errors.ts";
import type { Prisma } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { readableSize } from "../../readable-size.ts";
import { findJobNamespace, type JobNamespace, requireJobs } from "../find-job-namespace.ts";
import { requireOffered, requireSpace } from "../runs/require-offered.ts";
import { type RunOwner, storedSpecSchema } from "../runs/run.ts";
import { sealJobSecrets } from "../secrets.ts";
import { changeSchedule, type ScheduleOf } from "./find-schedule.ts";
import { nextRunAt, parseSchedule } from "./next-run-at.ts";
import { SCHEDULE_CHANNEL, type Schedule, type ScheduleRow, toSchedules } from "./schedule.ts";

const SCHEDULES_MAX_PER_OWNER = 100;
/** Counted over all organizations, because anybody can create many. The worker suspends schedules whose user has left (S137). */
const ACTIVE_MAX_PER_USER = 500;
/** Each run stores a copy of the schedule's command, variables and secrets (S137). */
const SCHEDULES_MAX_BYTES = 4_000_000;

export type NewSchedule = {
  spec: JobSpec;
  secrets: Record<string, string>;
  schedule: string;
  timezone?: string | null;
  mayOverlap?: boolean;
  isSuspended?: boolean;
};

export async function createSchedule(actor: Actor, namespace: string, input: NewSchedule, from: RequestOrigin): Promise<Changed> {
  const { spec, secrets, mayOverlap = false, isSuspended = false } = input;
  requireOffered(spec, secrets);
  const when = parseSchedule(input);
  const owner = await findJobNamespace(actor, "job.run", namespace);
  return inTransaction(async (tx) => {
    if (!(await lockOwner(tx, owner))) throw notFound("Namespace");
    await requireJobs(actor, "job.run", owner, tx);
    await requireRoom(tx, owner);
    if (!isSuspended) await requireFewActive(tx, actor);
    const stored = await requireSpace(tx, actor, spec);
    const row = await tx.scheduledJob.create({
      data: {
        id: newId(),
        ownerId: owner.id,
        ownerKind: owner.kind,
        createdById: actorId(actor),
        delegationId: await recordDelegation(tx, actor),
        spec: stored,
        secrets: sealJobSecrets(secrets),
        ...when,
        mayOverlap,
        isSuspended,
        dueAt: nextRunAt(when, new Date()),
      },
    });
    await requireFewBytes(tx, owner);
    const data = { scheduleId: row.id, ...when };
    await recordScheduleChange(tx, "scheduled_job.create", { actor, owner, from, data });
    return changedTo(tx, owner, row);
  });
}

type Changed = { owner: JobNamespace; schedule: Schedule };

async function changedTo(tx: Db, owner: JobNamespace, row: ScheduleRow): Promise<Changed> {
  const [schedule] = await toSchedules(tx, [row]);
  return { owner, schedule: schedule as Schedule };
}

function editSchedule(actor: Actor, of: ScheduleOf, edit: Parameters<typeof changeSchedule<ScheduleRow>>[2]): Promise<Changed> {
  return changeSchedule(actor, of, async (tx, row, owner) => changedTo(tx, owner, await edit(tx, row, owner)));
}

async function requireRoom(tx: Db, owner: JobNamespace): Promise<void> {
  // The lock makes each call count the schedules of the call before.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`schedules ${owner.id}`}, 0))`;
  if ((await tx.scheduledJob.count({ where: { ownerId: owner.id } })) < SCHEDULES_MAX_PER_OWNER) return;
  throw conflict(`${owner.handle} already has ${SCHEDULES_MAX_PER_OWNER} schedules. Delete one first.`);
}

async function requireFewActive(tx: Db, actor: Actor): Promise<void> {
  const createdById = actorId(actor);
  if (createdById === null) return;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`schedules by ${createdById}`}, 0))`;
  if ((await tx.scheduledJob.count({ where: { createdById, isSuspended: false } })) < ACTIVE_MAX_PER_USER) return;
  throw conflict(
    `${ACTIVE_MAX_PER_USER} schedules already run in your name, for yourself and for organizations. Suspend or delete one first.`,
  );
}

/** Call this after the schedule was stored, because the database measures the size. */
async function requireFewBytes(tx: Db, owner: JobNamespace): Promise<void> {
  const { _sum } = await tx.scheduledJob.aggregate({ where: { ownerId: owner.id }, _sum: { recordBytes: true } });
  if ((_sum.recordBytes ?? 0) <= SCHEDULES_MAX_BYTES) return;
  const most = readableSize(SCHEDULES_MAX_BYTES);
  throw conflict(
    `The commands, variables and secrets of all schedules of ${owner.handle} can take up at most ${most} in total. Delete a schedule first.`,
  );
}

type ScheduleChanges = {
  schedule?: string;
  timezone?: string;
  mayOverlap?: boolean;
  labels?: JobSpec["labels"];
};

/** Afterwards, the job runs in the name of the user who changed the schedule. */
export async function updateSchedule(
  actor: Actor,
  of: ScheduleOf,
  changes: ScheduleChanges,
  from: RequestOrigin,
): Promise<Changed> {
  return editSchedule(actor, of, async (tx, row, owner) => {
    const { labels, mayOverlap = row.mayOverlap } = changes;
    if (!row.isSuspended && row.createdById !== actorId(actor)) await requireFewActive(tx, actor);
    await requireSpace(tx, actor, storedSpecSchema.parse(row.spec));
    const when = parseSchedule({ schedule: changes.schedule ?? row.schedule, timezone: changes.timezone ?? row.timezone });
    const isMoved = when.schedule !== row.schedule || when.timezone !== row.timezone;
    const changed = await tx.scheduledJob.update({
      where: { id: row.id },
      data: {
        ...when,
        mayOverlap,
        ...(actorId(actor) !== null && { createdById: actorId(actor), delegationId: await recordDelegation(tx, actor) }),
        ...(labels && { spec: { ...storedSpecSchema.parse(row.spec), labels } }),
        // A worker that claimed the row for the old due time must lose its claim.
        ...(isMoved && { dueAt: nextRunAt(when, new Date()), claimId: null, claimedUntil: null, message: null }),
      },
    });
    const data = { scheduleId: row.id, ...when, ...(labels && { labels }) };
    await recordScheduleChange(tx, "scheduled_job.update", { actor, owner, from, data });
    return changed;
  });
}

export async function suspendSchedule(actor: Actor, of: ScheduleOf, from: RequestOrigin): Promise<Changed> {
  return editSchedule(actor, of, async (tx, row, owner) => {
    const changed = await tx.scheduledJob.update({
      where: { id: row.id },
      data: { isSuspended: true, claimId: null, claimedUntil: null },
    });
    const data = { scheduleId: row.id };
    if (!row.isSuspended) await recordScheduleChange(tx, "scheduled_job.suspend", { actor, owner, from, data });
    return changed;
  });
}

/** Afterwards, the job runs in the name of the resuming user, because the previous one may be the reason for the suspension. */
export async function resumeSchedule(actor: Actor, of: ScheduleOf, from: RequestOrigin): Promise<Changed> {
  return editSchedule(actor, of, async (tx, row, owner) => {
    if (!row.isSuspended) return row;
    await requireFewActive(tx, actor);
    await requireSpace(tx, actor, storedSpecSchema.parse(row.spec));
    const changed = await tx.scheduledJob.update({
      where: { id: row.id },
      data: {
        isSuspended: false,
        message: null,
        createdById: actorId(actor) ?? row.createdById,
        delegationId: await recordDelegation(tx, actor),
        dueAt: nextRunAt(row, new Date()),
        attempts: 0,
        claimId: null,
        claimedUntil: null,
      },
    });
    await recordScheduleChange(tx, "scheduled_job.resume", { actor, owner, from, data: { scheduleId: row.id } });
    return changed;
  });
}

export async function deleteSchedule(actor: Actor, of: ScheduleOf, from: RequestOrigin): Promise<void> {
  await changeSchedule(actor, of, async (tx, row, owner) => {
    await tx.scheduledJob.delete({ where: { id: row.id } });
    const data = { scheduleId: row.id, schedule: row.schedule };
    await recordScheduleChange(tx, "scheduled_job.delete", { actor, owner, from, data });
  });
}

async function recordScheduleChange(
  tx: Db,
  type: Extract<AuditEventType, `scheduled_job.${string}`>,
  { actor, owner, from, data }: { actor: Actor; owner: RunOwner; from: RequestOrigin; data: Prisma.InputJsonObject },
): Promise<void> {
  await recordAuditEvent(tx, { type, actor, owner, data, from });
  await tx.$executeRaw`SELECT pg_notify(${SCHEDULE_CHANNEL}, '')`;
}
