import { env } from "#core/env.ts";
import { executeRun } from "#core/jobs/runs/execute-run.ts";
import { type ClaimedRun, jobTable } from "#core/jobs/runs/job-table.ts";
import { JOB_CHANNEL } from "#core/jobs/stages.ts";
import { takeSpaceFiles } from "#core/spaces/files/take-space-files.ts";
import { mayBeTold } from "#core/webhooks/activity/may-owner-read.ts";
import { wakeDelivery } from "#core/webhooks/delivery/wake-delivery.ts";
import { type Loop, startLoop } from "./loop.ts";

/** Runs jobs, up to JOBS_CONCURRENCY at once, and informs the delivery that one was run for. */
export async function startJobs(): Promise<Loop> {
  const stopping = new AbortController();
  const loop = await startLoop<ClaimedRun>({
    table: jobTable,
    channel: JOB_CHANNEL,
    concurrency: env().JOBS_CONCURRENCY,
    async run(row, claimId) {
      await executeRun(row, claimId, { takeFiles: takeSpaceFiles, mayBeTold, stopping: stopping.signal });
      if (row.delivery_id) await wakeDelivery(row.delivery_id);
    },
  });
  return {
    async stop() {
      // No run outlives its worker: current ones end now, and are recorded as interrupted.
      stopping.abort();
      await loop.stop();
    },
  };
}
