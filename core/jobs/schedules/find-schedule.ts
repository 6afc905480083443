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
 * Changes one schedule under a lock, if the actor may do so at that moment and the owner still exists.
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
    // Locks the owner first, as a deletion of the owner does, so that the two cannot deadlock.
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
