import type { Actor } from "../../access/actor.ts";
import { requireOwnWorkOf } from "../../access/delegation.ts";
import { lockOwner } from "../../accounts/handles/find-owner.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { type Db, db, inTransaction } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { findJobNamespace, type JobNamespace, requireJobs } from "../find-job-namespace.ts";
import { type Schedule, type ScheduleRow, toSchedules } from "./schedule.ts";

export type ScheduleOf = { namespace: string; scheduleId: string };

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

export async function changeSchedule<T>(
  actor: Actor,
  { namespace, scheduleId }: ScheduleOf,
  change: (tx: Db, row: ScheduleRow, owner: JobNamespace) => Promise<T>,
): Promise<T> {
  const owner = await findJobNamespace(actor, "job.run", namespace);
  if (!isId(scheduleId)) throw notFound("Scheduled job");
  return inTransaction(async (tx) => {
    // The owner is locked first, as in the owner's deletion, to avoid a deadlock.
    if (!(await lockOwner(tx, owner))) throw notFound("Namespace");
    await requireJobs(actor, "job.run", owner, tx);
    const locked = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM scheduled_job WHERE id = ${scheduleId} AND owner_id = ${owner.id} FOR UPDATE`;
    if (locked.length === 0) throw notFound("Scheduled job");
    const row = await tx.scheduledJob.findUniqueOrThrow({ where: { id: scheduleId } });
    await requireOwnWorkOf(tx, actor, row.delegationId, "schedule");
    return change(tx, row, owner);
  });
}

/** Limits the size of a page (S137). */
const BYTES_PER_SCHEDULE = 10 * 1024;

/** In a page and in `total`, a schedule with a large spec counts more than once. */
export async function listSchedules(
  actor: Actor,
  namespace: string,
  request: PageRequest = {},
): Promise<Page<Schedule> & { owner: JobNamespace }> {
  const owner = await findJobNamespace(actor, "job.read", namespace);
  const { page, pageSize, skip } = pageBounds(request);
  const all = await db().scheduledJob.findMany({
    where: { ownerId: owner.id },
    orderBy: { id: "desc" },
    select: { id: true, recordBytes: true },
  });
  let end = 0;
  const placed = all.map(({ id, recordBytes }) => {
    const at = end;
    end += Math.min(1 + Math.floor(recordBytes / BYTES_PER_SCHEDULE), pageSize);
    return { id, at };
  });
  const ids = placed.flatMap(({ id, at }) => (at >= skip && at < skip + pageSize ? id : []));
  const rows = await db().scheduledJob.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" } });
  const total = (placed.at(-1)?.at ?? -1) + 1;
  return { items: await toSchedules(db(), rows), page, pageSize, total, owner };
}
