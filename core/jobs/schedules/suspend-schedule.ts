import type { Actor } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { JobNamespace } from "../find-job-namespace.ts";
import { changeSchedule, type ScheduleOf } from "./find-schedule.ts";
import { recordScheduleChange } from "./record-schedule-change.ts";
import { type Schedule, toSchedules } from "./schedule.ts";

/**
 * Starts no more runs until it is resumed; a current run continues. Suspending twice is not an error. @throws ServiceError `not_found`,
 * `insufficient_scope`
 */
export async function suspendSchedule(
  actor: Actor,
  of: ScheduleOf,
  from: RequestOrigin,
): Promise<{ owner: JobNamespace; schedule: Schedule }> {
  return changeSchedule(actor, of, async (tx, row, owner) => {
    const changed = await tx.scheduledJob.update({
      where: { id: row.id },
      data: { isSuspended: true, claimId: null, claimedUntil: null },
    });
    const data = { scheduleId: row.id };
    if (!row.isSuspended) await recordScheduleChange(tx, "scheduled_job.suspend", { actor, owner, from, data });
    const [schedule] = await toSchedules(tx, [changed]);
    return { owner, schedule: schedule as Schedule };
  });
}
