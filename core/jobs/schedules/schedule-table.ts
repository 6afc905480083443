import type { LeasedTable } from "../../leases/leased-table.ts";

/** Schedules as work: a row is due at its next run. */
export const scheduleTable: LeasedTable = { name: "scheduled_job", isOpen: "not is_suspended" };

/** NOTIFY channel for schedules that may be due sooner than a worker checks. */
export const SCHEDULE_CHANNEL = "scheduled_job";
