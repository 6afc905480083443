import { type Db, pool } from "../../../db.ts";
import type { LeasedTable } from "../../../leases/leased-table.ts";

/** Done rows are deleted: what is there is open. */
export const maintenanceTable: LeasedTable = { name: "repo_maintenance", isOpen: "true" };

/** NOTIFY channel; nothing is announced on it, since maintenance is never urgent. */
export const MAINTENANCE_CHANNEL = "repo_maintenance";

/** A claimed row: the repository's id, which may be gone by then. */
export type DueMaintenance = { id: string; attempts: number };

/** Many pushes in a row are looked after once. */
export const MAINTENANCE_DELAY_SECONDS = 10 * 60;

/** Has a repository looked after in a while: something is about to be sent to it, whatever becomes of that. */
export async function scheduleMaintenance(repoId: string): Promise<void> {
  await pool().query({
    name: "schedule-maintenance",
    text: `INSERT INTO repo_maintenance (id, due_at) VALUES ($1, now() + make_interval(secs => $2)) ON CONFLICT (id) DO NOTHING`,
    values: [repoId, MAINTENANCE_DELAY_SECONDS],
  });
}

/** Work that was put off for others, such as reading a card. */
const SOON_SECONDS = 30;

/** Has a repository looked after soon; again, where somebody is at it: they may have passed what is asked for. */
export async function scheduleMaintenanceSoon(tx: Db, repoId: string): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO repo_maintenance AS row (id, due_at) VALUES (${repoId}, now() + make_interval(secs => ${SOON_SECONDS}))
    ON CONFLICT (id) DO UPDATE
      SET due_at = CASE WHEN row.claim_id IS NULL THEN least(row.due_at, excluded.due_at) ELSE excluded.due_at END`;
}
