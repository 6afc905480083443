import { SCHEDULE_CHANNEL, scheduleTable } from "#core/jobs/schedules/schedule-table.ts";
import { type ClaimedSchedule, startDueRun } from "#core/jobs/schedules/start-due-run.ts";
import { type Loop, startLoop } from "./loop.ts";

/** Starts the runs of due schedules. A row takes a few milliseconds: it executes nothing itself, it only creates a waiting run. */
export function startSchedules(): Promise<Loop> {
  return startLoop<ClaimedSchedule>({
    table: scheduleTable,
    channel: SCHEDULE_CHANNEL,
    concurrency: 8,
    run: startDueRun,
  });
}
