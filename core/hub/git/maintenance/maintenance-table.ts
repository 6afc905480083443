import { type Db, pool } from "../../../db.ts";
import type { LeasedTable } from "../../../leases/leased-table.ts";

/** Finished rows are deleted, so every row is open. */
export const maintenanceTable: LeasedTable = { name: "repo_maintenance", isOpen: "true" };

/** NOTIFY channel; nothing is announced on it, since maintenance is never urgent. */
export const MAINTENANCE_CHANNEL = "repo_maintenance";

/** A claimed row, with the id of its repository, which may be deleted by then. */
export type DueMaintenance = { id: string; attempts: number };

/** Many pushes in a row get one visit. */
export const MAINTENANCE_DELAY_SECONDS = 10 * 60;

/** Schedules maintenance of a repository: something is about to be sent to it, whatever becomes of that. */
export async function scheduleMaintenance(repoId: string): Promise<void> {
  await pool().query({
    name: "schedule-maintenance",
    text: `INSERT INTO repo_maintenance (id, due_at) VALUES ($1, now() + make_interval(secs => $2)) ON CONFLICT (id) DO NOTHING`,
    values: [repoId, MAINTENANCE_DELAY_SECONDS],
  });
}

/** For work that was put off in favour of others, such as reading a card. */
const SOON_SECONDS = 30;

/** Schedules maintenance soon, and again if it is running now: it may have passed the requested step already. */
export async function scheduleMaintenanceSoon(tx: Db, repoId: string): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO repo_maintenance AS row (id, due_at) VALUES (${repoId}, now() + make_interval(secs => ${SOON_SECONDS}))
    ON CONFLICT (id) DO UPDATE
      SET due_at = CASE WHEN row.claim_id IS NULL THEN least(row.due_at, excluded.due_at) ELSE excluded.due_at END`;
}
