import { type JobSpec, jobSpecSchema } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { recordDelegation } from "../../access/delegation.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { JobNamespace } from "../find-job-namespace.ts";
import { requireSpace } from "../runs/require-offered.ts";
import { changeSchedule, type ScheduleOf } from "./find-schedule.ts";
import { nextRunAt, parseSchedule } from "./next-run-at.ts";
import { recordScheduleChange } from "./record-schedule-change.ts";
import { type Schedule, toSchedules } from "./schedule.ts";

export type ScheduleChanges = {
  schedule?: string;
  timezone?: string;
  mayOverlap?: boolean;
  /** Replaces all labels. */
  labels?: JobSpec["labels"];
};

/**
 * Changes when a job runs, or its labels. Omitted fields stay. A new schedule applies from now on, and it runs in the name of the user who
 * changed it.
 * @throws ServiceError `invalid_request`, `not_found`, `insufficient_scope`
 */
export async function updateSchedule(
  actor: Actor,
  of: ScheduleOf,
  changes: ScheduleChanges,
  from: RequestOrigin,
): Promise<{ owner: JobNamespace; schedule: Schedule }> {
  return changeSchedule(actor, of, async (tx, row, owner) => {
    const { labels, mayOverlap = row.mayOverlap } = changes;
    await requireSpace(tx, actor, jobSpecSchema.parse(row.spec));
    const when = parseSchedule({ schedule: changes.schedule ?? row.schedule, timezone: changes.timezone ?? row.timezone });
    const isMoved = when.schedule !== row.schedule || when.timezone !== row.timezone;
    const changed = await tx.scheduledJob.update({
      where: { id: row.id },
      data: {
        ...when,
        mayOverlap,
        // The user who changes it answers for it from now on, as with a webhook.
        ...(actorId(actor) !== null && { createdById: actorId(actor), delegationId: await recordDelegation(tx, actor) }),
        ...(labels && { spec: { ...jobSpecSchema.parse(row.spec), labels } }),
        // A worker that holds it for an outdated due time finds its claim gone.
        ...(isMoved && { dueAt: nextRunAt(when, new Date()), claimId: null, claimedUntil: null, message: null }),
      },
    });
    const data = { scheduleId: row.id, ...when, ...(labels && { labels }) };
    await recordScheduleChange(tx, "scheduled_job.update", { actor, owner, from, data });
    const [schedule] = await toSchedules(tx, [changed]);
    return { owner, schedule: schedule as Schedule };
  });
}
