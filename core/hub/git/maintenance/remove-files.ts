import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { withDirectConnection } from "../../../db.ts";
import { DELETIONS_HELD, REMOVAL_LOCK } from "../../../housekeeping/hold-deletions.ts";
import { log } from "../../../log.ts";
import { entriesOfRefs } from "../refs/loose-refs.ts";
import { repositoryPath } from "../repository.ts";

const WAIT_SECONDS = 60;

/** The row is deleted last, so that another process can take over. A transaction would make vacuum wait. */
export async function removeDeletedRepositories(stopping: AbortSignal, waitSeconds = WAIT_SECONDS): Promise<number> {
  let removed = 0;
  while (!stopping.aborted) {
    const isRemoved = await removeOne(waitSeconds);
    if (isRemoved === undefined) break;
    if (isRemoved) removed += 1;
  }
  return removed;
}

async function removeOne(waitSeconds: number): Promise<boolean | undefined> {
  return withDirectConnection(async (client) => {
    const locks = await client.query<{ isOurs: boolean }>(`SELECT pg_try_advisory_lock(${REMOVAL_LOCK}) AS "isOurs"`);
    if (!locks.rows[0]?.isOurs) return undefined;
    const { rows } = await client.query<{ repo_id: string }>(
      `SELECT repo_id FROM repo_removal WHERE created_at <= now() - make_interval(secs => $1) AND NOT ${DELETIONS_HELD}
        ORDER BY created_at LIMIT 1`,
      [waitSeconds],
    );
    const id = rows[0]?.repo_id;
    const isRemoved = id === undefined ? undefined : await removeFiles(id);
    if (isRemoved) {
      await client.query(`DELETE FROM repo_maintenance WHERE id = $1`, [id]);
      await client.query(`DELETE FROM repo_removal WHERE repo_id = $1`, [id]);
    } else if (id) await client.query(`UPDATE repo_removal SET created_at = now() WHERE repo_id = $1`, [id]);
    await client.query(`SELECT pg_advisory_unlock(${REMOVAL_LOCK})`);
    return isRemoved;
  });
}

async function removeFiles(id: string): Promise<boolean> {
  try {
    await rm(repositoryPath(id), { recursive: true, force: true });
    return true;
  } catch (error) {
    log().error({ err: error, repo: id }, "the files of a deleted repository cannot be removed");
    return false;
  }
}

const UNFINISHED_OLDER_THAN_MS = 24 * 60 * 60 * 1000;
const ENTRIES_MAX = 200_000;

/** A lock that a killed process left blocks a ref forever. */
export async function removeStaleFiles(path: string, { locksOlderThanMs }: { locksOlderThanMs: number }): Promise<number> {
  const now = Date.now();
  let removed = 0;
  const removeOlder = async (file: string, ageMs: number) => {
    const found = await stat(file).catch(() => undefined);
    // A folder is as old as its last added entry.
    if (!found || now - found.mtimeMs < ageMs) return;
    await rm(file, { recursive: true, force: true });
    removed += 1;
  };
  for (const name of await namesIn(path)) {
    if (name.endsWith(".lock")) await removeOlder(join(path, name), locksOlderThanMs);
  }
  for await (const { path: file } of entriesOfRefs(path)) {
    if (file.endsWith(".lock")) await removeOlder(file, locksOlderThanMs);
  }
  const objects = join(path, "objects");
  for (const name of await namesIn(objects)) {
    if (/^(tmp_objdir-|incoming-)/.test(name)) await removeOlder(join(objects, name), UNFINISHED_OLDER_THAN_MS);
    else if (/^[0-9a-f]{2}$|^pack$/.test(name)) {
      for (const file of await namesIn(join(objects, name))) {
        if (/^\.?tmp[_-]/.test(file)) await removeOlder(join(objects, name, file), UNFINISHED_OLDER_THAN_MS);
      }
    }
  }
  return removed;
}

async function namesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.slice(0, ENTRIES_MAX);
}
