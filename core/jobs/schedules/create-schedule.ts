import type { JobSpec } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { recordDelegation } from "../../access/delegation.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { findJobNamespace, type JobNamespace, requireJobs } from "../find-job-namespace.ts";
import { lockRunOwner } from "../lock-run-owner.ts";
import { requireOffered, requireSpace } from "../runs/require-offered.ts";
import { sealJobSecrets } from "../secrets.ts";
import { nextRunAt, parseSchedule } from "./next-run-at.ts";
import { recordScheduleChange } from "./record-schedule-change.ts";
import { type Schedule, toSchedules } from "./schedule.ts";

/** Enough for a team; it stops a runaway script. */
export const SCHEDULES_MAX_PER_OWNER = 100;

export type NewSchedule = {
  spec: JobSpec;
  secrets: Record<string, string>;
  schedule: string;
  timezone?: string | null;
  mayOverlap?: boolean;
  isSuspended?: boolean;
};

/**
 * Schedules a recurring job in the actor's name.
 * @throws ServiceError `invalid_request`, `not_found` (the namespace, the Space), `insufficient_scope`, `conflict` (too many)
 */
export async function createSchedule(
  actor: Actor,
  namespace: string,
  input: NewSchedule,
  from: RequestOrigin,
): Promise<{ owner: JobNamespace; schedule: Schedule }> {
  const { spec, secrets, mayOverlap = false, isSuspended = false } = input;
  requireOffered(spec, secrets);
  const when = parseSchedule(input);
  const owner = await findJobNamespace(actor, "job.run", namespace);
  return inTransaction(async (tx) => {
    if (!(await lockRunOwner(tx, owner))) throw notFound("Namespace");
    await requireJobs(actor, "job.run", owner, tx);
    await requireRoom(tx, owner);
    await requireSpace(tx, actor, spec);
    const row = await tx.scheduledJob.create({
      data: {
        id: newId(),
        ownerId: owner.id,
        ownerKind: owner.kind,
        createdById: actorId(actor),
        delegationId: await recordDelegation(tx, actor),
        spec,
        secrets: sealJobSecrets(secrets),
        ...when,
        mayOverlap,
        isSuspended,
        dueAt: nextRunAt(when, new Date()),
      },
    });
    const data = { scheduleId: row.id, ...when };
    await recordScheduleChange(tx, "scheduled_job.create", { actor, owner, from, data });
    const [schedule] = await toSchedules(tx, [row]);
    return { owner, schedule: schedule as Schedule };
  });
}

async function requireRoom(tx: Db, owner: JobNamespace): Promise<void> {
  // One after another, so that the next count is right.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`schedules ${owner.id}`}, 0))`;
  if ((await tx.scheduledJob.count({ where: { ownerId: owner.id } })) < SCHEDULES_MAX_PER_OWNER) return;
  throw new ServiceError("conflict", `${owner.handle} has ${SCHEDULES_MAX_PER_OWNER} schedules. Delete one first.`);
}
