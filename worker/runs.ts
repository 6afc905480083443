import { env } from "#core/env.ts";
import { findRunner, reportRunner } from "#core/jobs/runners/find-runner.ts";
import { executeRun } from "#core/jobs/runs/execute-run.ts";
import { type ClaimedRun, jobTable } from "#core/jobs/runs/job-table.ts";
import { SCHEDULE_CHANNEL, scheduleTable } from "#core/jobs/schedules/schedule.ts";
import { type ClaimedSchedule, startDueRun } from "#core/jobs/schedules/start-due-run.ts";
import { JOB_CHANNEL } from "#core/jobs/stages.ts";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { startGateway } from "#core/spaces/gateway/start-gateway.ts";
import { takeSpaceFiles } from "#core/spaces/run/lay-out-files.ts";
import { SpaceHost } from "#core/spaces/run/space-host.ts";
import { sweepLeftFiles } from "#core/spaces/run/sweep-left-files.ts";
import { spaceTable } from "#core/spaces/space-runtime.ts";
import { SPACE_CHANNEL } from "#core/spaces/stages.ts";
import { mayReceiveDelivery } from "#core/webhooks/activity/read-delivery.ts";
import { wakeDelivery } from "#core/webhooks/delivery/deliver-to-job.ts";
import { type Loop, startLoop, startRounds } from "./loop.ts";

/** When a job of a delivery ends, the delivery becomes due. */
export async function startJobs(): Promise<Loop> {
  const stopping = new AbortController();
  const loop = await startLoop<ClaimedRun>({
    table: jobTable,
    channel: JOB_CHANNEL,
    concurrency: env().JOBS_CONCURRENCY,
    async run(row, claimId) {
      await executeRun(row, claimId, { takeFiles: takeSpaceFiles, mayReceive: mayReceiveDelivery, stopping: stopping.signal });
      if (row.delivery_id) await wakeDelivery(row.delivery_id);
    },
  });
  return {
    async stop() {
      // No run outlives its worker, so current runs end now and are recorded as interrupted.
      stopping.abort();
      await loop.stop();
    },
  };
}

export function startSchedules(): Promise<Loop> {
  return startLoop<ClaimedSchedule>({ table: scheduleTable, channel: SCHEDULE_CHANNEL, concurrency: 8, run: startDueRun });
}

export function startRunnerReport(): Promise<Loop> {
  return startRounds({ what: "report how jobs are run", everyMs: 60_000, work: reportRunner });
}

// No notification says that a Space is idle, disabled or deleted, and any notification may be missed.
const CHECK_MS = 2_000;

/** If this worker dies, another one takes the Spaces over (S122). */
export async function startSpaces(): Promise<Loop> {
  const { SPACES_CONCURRENCY: concurrency } = env();
  if (concurrency === 0) return { stop: async () => undefined };
  await sweepLeftFiles();
  const gateway = await startGateway();
  const host = new SpaceHost(findRunner, gateway);
  const check = () => host.check(concurrency);
  const checks = await startRounds({ what: "supervise Spaces", everyMs: CHECK_MS, firstMs: CHECK_MS, work: check });
  await listen(SPACE_CHANNEL, (repoId) => {
    if (repoId !== "" && !host.has(repoId)) return;
    check().catch((error: unknown) => log().warn({ err: error }, "cannot supervise Spaces; trying again"));
  });
  const loop = await startLoop<{ id: string }>({
    table: spaceTable,
    channel: SPACE_CHANNEL,
    concurrency,
    run: ({ id }, claimId) => host.run(id, claimId),
  });
  return {
    async stop() {
      // Other workers take over released Spaces at once, so this worker first stops claiming.
      const stopped = loop.stop();
      host.leave();
      await Promise.all([stopped, checks.stop()]);
      await gateway.stop();
    },
  };
}
