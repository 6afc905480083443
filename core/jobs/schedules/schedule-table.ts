import type { LeasedTable } from "../../leases/leased-table.ts";

/** Schedules as work: a row is due when its next run is. */
export const scheduleTable: LeasedTable = { name: "scheduled_job", isOpen: "not is_suspended" };

/** NOTIFY channel on which schedules are announced that may be due sooner than a worker looks. */
export const SCHEDULE_CHANNEL = "scheduled_job";
