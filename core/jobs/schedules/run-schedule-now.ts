import { jobSpecSchema } from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation } from "../../access/delegation.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import type { JobNamespace } from "../find-job-namespace.ts";
import { requireSpace } from "../runs/require-offered.ts";
import { changeSchedule, type ScheduleOf } from "./find-schedule.ts";
import { isRunning, startRunOf } from "./start-run-of.ts";

/**
 * Runs a schedule's job once, now; its due times do not change, and a suspended one stays suspended.
 * @throws ServiceError `not_found`, `insufficient_scope`, `rate_limited` (too many wait), `conflict` while the last run goes on and runs
 * must not overlap
 */
export async function runScheduleNow(
  actor: Actor,
  of: ScheduleOf,
  from: RequestOrigin,
): Promise<{ owner: JobNamespace; runId: string }> {
  return changeSchedule(actor, of, async (tx, row, owner) => {
    if (!row.mayOverlap && (await isRunning(tx, row))) {
      const sentence = "The last run still goes on, and this schedule does not let runs overlap. Wait for it, or cancel it.";
      throw new ServiceError("conflict", sentence);
    }
    const { dockerImage, spaceId } = jobSpecSchema.parse(row.spec);
    await requireSpace(tx, actor, { spaceId });
    const by = { createdById: actorId(actor), delegationId: await recordDelegation(tx, actor) };
    const runId = await startRunOf(tx, row, by);
    await tx.scheduledJob.update({ where: { id: row.id }, data: { lastRunId: runId } });
    await recordAuditEvent(tx, {
      type: "job.run",
      actorId: actorId(actor),
      orgId: owner.kind === "organization" ? owner.id : null,
      clientId: clientIdOf(actor),
      data: { runId, scheduleId: row.id, image: dockerImage ?? spaceId ?? "" },
      from,
    });
    return { owner, runId };
  });
}
