import type { Actor } from "../../access/actor.ts";
import { requireOwnWorkOf } from "../../access/delegation.ts";
import { type Db, db, inTransaction } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { findJobNamespace, type JobNamespace, requireJobs } from "../find-job-namespace.ts";
import { lockRunOwner } from "../lock-run-owner.ts";
import { type Schedule, type ScheduleRow, toSchedules } from "./schedule.ts";

export type ScheduleOf = { namespace: string; scheduleId: string };

/** @throws ServiceError `not_found`, `insufficient_scope` */
export async function findSchedule(
  actor: Actor,
  { namespace, scheduleId }: ScheduleOf,
): Promise<{ owner: JobNamespace; schedule: Schedule }> {
  const owner = await findJobNamespace(actor, "job.read", namespace);
  const row = isId(scheduleId) ? await db().scheduledJob.findFirst({ where: { id: scheduleId, ownerId: owner.id } }) : null;
  const [schedule] = row ? await toSchedules(db(), [row]) : [];
  if (!schedule) throw notFound("Scheduled job");
  return { owner, schedule };
}

/**
 * Runs a change of one schedule: while nobody else changes it, by somebody who may at that moment, whose owner is still there.
 * @throws ServiceError `not_found`, `insufficient_scope`, `forbidden` for another app's
 */
export async function changeSchedule<T>(
  actor: Actor,
  { namespace, scheduleId }: ScheduleOf,
  change: (tx: Db, row: ScheduleRow, owner: JobNamespace) => Promise<T>,
): Promise<T> {
  const owner = await findJobNamespace(actor, "job.run", namespace);
  if (!isId(scheduleId)) throw notFound("Scheduled job");
  return inTransaction(async (tx) => {
    // The owner first, as their deletion does: neither waits for what the other holds.
    if (!(await lockRunOwner(tx, owner))) throw notFound("Namespace");
    await requireJobs(actor, "job.run", owner, tx);
    const locked = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM scheduled_job WHERE id = ${scheduleId} AND owner_id = ${owner.id} FOR UPDATE`;
    if (locked.length === 0) throw notFound("Scheduled job");
    const row = await tx.scheduledJob.findUniqueOrThrow({ where: { id: scheduleId } });
    await requireOwnWorkOf(tx, actor, row.delegationId, "schedule");
    return change(tx, row, owner);
  });
}
