import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pool } from "../../db.ts";
import { serviceMark } from "../../temporary-folder.ts";

/**
 * A folder of this machine for one task: what its sandbox is made of (`run`), or the files that it finds (`files`). Whoever makes it
 * removes it; a worker that is killed meanwhile does not, so that it says whose it is.
 * @param id the task's: of a run, or of a Space
 */
export const makeTaskDirectory = (kind: "run" | "files", id: string): Promise<string> =>
  mkdtemp(join(tmpdir(), `keyhook-${kind}-${serviceMark()}-${id}-`));

/**
 * Removes the folders of tasks that nobody has in hand any more.
 * @param held ids of tasks that are not runs and go on
 */
export async function sweepTaskDirectories(held: ReadonlySet<string>): Promise<void> {
  const ours = new RegExp(`^keyhook-(?:run|files)-${serviceMark()}-([0-9a-f]{24})-[^-]+$`);
  const left = (await readdir(tmpdir())).flatMap((name) => {
    const [, id] = ours.exec(name) ?? [];
    return id === undefined || held.has(id) ? [] : [{ name, id }];
  });
  const ids = await heldAmong(
    left.map(({ id }) => id),
    held,
  );
  for (const { name, id } of left) if (!ids.has(id)) await rm(join(tmpdir(), name), { recursive: true, force: true });
}

/**
 * Which of these tasks some worker has in hand. Asked after one has looked at what they have left: a claim is older than what is made
 * under it.
 * @param spaces ids of tasks that are not runs and go on
 */
export async function heldAmong(ids: readonly string[], spaces: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await pool().query<{ id: string }>(
    "SELECT id FROM job_run WHERE id = ANY($1) AND finished_at IS NULL AND claimed_until > now()",
    [ids],
  );
  return new Set([...rows.map(({ id }) => id), ...ids.filter((id) => spaces.has(id))]);
}
