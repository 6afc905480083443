import { SCHEDULE_CHANNEL, scheduleTable } from "#core/jobs/schedules/schedule-table.ts";
import { type ClaimedSchedule, startDueRun } from "#core/jobs/schedules/start-due-run.ts";
import { type Loop, startLoop } from "./loop.ts";

/** Starts the runs of schedules that are due. A row is a few milliseconds' work: it starts nothing itself, it makes a run that waits. */
export function startSchedules(): Promise<Loop> {
  return startLoop<ClaimedSchedule>({
    table: scheduleTable,
    channel: SCHEDULE_CHANNEL,
    concurrency: 8,
    run: startDueRun,
  });
}
