import type { Actor } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { changeSchedule, type ScheduleOf } from "./find-schedule.ts";
import { recordScheduleChange } from "./record-schedule-change.ts";

/** Deletes a schedule; runs that it started stay, and running ones continue. @throws ServiceError `not_found`, `insufficient_scope` */
export async function deleteSchedule(actor: Actor, of: ScheduleOf, from: RequestOrigin): Promise<void> {
  await changeSchedule(actor, of, async (tx, row, owner) => {
    await tx.scheduledJob.delete({ where: { id: row.id } });
    const data = { scheduleId: row.id, schedule: row.schedule };
    await recordScheduleChange(tx, "scheduled_job.delete", { actor, owner, from, data });
  });
}
