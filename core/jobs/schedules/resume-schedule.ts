import { jobSpecSchema } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { recordDelegation } from "../../access/delegation.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { JobNamespace } from "../find-job-namespace.ts";
import { requireSpace } from "../runs/require-offered.ts";
import { changeSchedule, type ScheduleOf } from "./find-schedule.ts";
import { nextRunAt } from "./next-run-at.ts";
import { recordScheduleChange } from "./record-schedule-change.ts";
import { type Schedule, toSchedules } from "./schedule.ts";

/**
 * Resumes a suspended schedule: times that passed meanwhile do not run, and it now runs in the name of the user who resumed it, since the
 * previous one may be why it was suspended. Resuming one that is not suspended changes nothing.
 * @throws ServiceError `not_found`, `insufficient_scope`
 */
export async function resumeSchedule(
  actor: Actor,
  of: ScheduleOf,
  from: RequestOrigin,
): Promise<{ owner: JobNamespace; schedule: Schedule }> {
  return changeSchedule(actor, of, async (tx, row, owner) => {
    if (!row.isSuspended) {
      const [schedule] = await toSchedules(tx, [row]);
      return { owner, schedule: schedule as Schedule };
    }
    await requireSpace(tx, actor, jobSpecSchema.parse(row.spec));
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
    const [schedule] = await toSchedules(tx, [changed]);
    return { owner, schedule: schedule as Schedule };
  });
}
