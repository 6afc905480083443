import { rm } from "node:fs/promises";
import { withConnection } from "../../../db.ts";
import { repositoryPath } from "../repository.ts";

/** Whoever was reading from it or pushing to it when it was deleted comes to an end first. */
const WAIT_SECONDS = 60;

/**
 * Removes the git data of repositories that were deleted, one after the other. Its row is locked while one is removed, and goes when
 * nothing is left: a process that is killed meanwhile leaves the rest to the next.
 * @returns how many were removed
 */
export async function removeDeletedRepositories(stopping: AbortSignal, waitSeconds = WAIT_SECONDS): Promise<number> {
  let removed = 0;
  while (!stopping.aborted && (await removeOne(waitSeconds))) removed += 1;
  return removed;
}

async function removeOne(waitSeconds: number): Promise<boolean> {
  return withConnection(async (client) => {
    await client.query("BEGIN");
    const { rows } = await client.query<{ repo_id: string }>(
      `SELECT repo_id FROM repo_removal WHERE created_at <= now() - make_interval(secs => $1)
        ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
      [waitSeconds],
    );
    const id = rows[0]?.repo_id;
    if (id) {
      await rm(repositoryPath(id), { recursive: true, force: true });
      await client.query(`DELETE FROM repo_removal WHERE repo_id = $1`, [id]);
      await client.query(`DELETE FROM repo_maintenance WHERE id = $1`, [id]);
    }
    await client.query("COMMIT");
    return id !== undefined;
  });
}
