import { rm } from "node:fs/promises";
import { withConnection } from "../../../db.ts";
import { repositoryPath } from "../repository.ts";

/** Lets transfers that were running when it was deleted end first. */
const WAIT_SECONDS = 60;

/**
 * Removes the git data of deleted repositories, one after the other. A repository's row is locked during the removal, and deleted when
 * nothing is left: if the process is killed meanwhile, the next one removes the rest.
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
