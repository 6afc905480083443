import { type Actor, actorId } from "../../access/actor.ts";
import { ServiceError } from "../../errors.ts";
import type { JobNamespace } from "../find-job-namespace.ts";
import { changeSchedule, type ScheduleOf } from "./find-schedule.ts";
import { isRunning, startRunOf } from "./start-run-of.ts";

/**
 * Runs a schedule's job once, now; its due times stay as they are, and one that is suspended stays so.
 * @throws ServiceError `not_found`, `insufficient_scope`, `conflict` while the last run goes on and runs must not overlap
 */
export async function runScheduleNow(actor: Actor, of: ScheduleOf): Promise<{ owner: JobNamespace; runId: string }> {
  return changeSchedule(actor, of, async (tx, row, owner) => {
    if (!row.mayOverlap && (await isRunning(tx, row))) {
      const sentence = "The last run still goes on, and this schedule does not let runs overlap. Wait for it, or cancel it.";
      throw new ServiceError("conflict", sentence);
    }
    const runId = await startRunOf(tx, row, actorId(actor));
    await tx.scheduledJob.update({ where: { id: row.id }, data: { lastRunId: runId } });
    return { owner, runId };
  });
}
