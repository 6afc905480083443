import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pool } from "../../db.ts";
import { serviceMark } from "../../temporary-folder.ts";

/**
 * The name contains the ID, so that the folder is found after the worker was killed.
 * @param id the ID of the run or the Space
 */
export const makeTaskDirectory = (kind: "run" | "files", id: string): Promise<string> =>
  mkdtemp(join(tmpdir(), `keyhook-${kind}-${serviceMark()}-${id}-`));

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
 * Call this after the leftovers were listed, because a claim is older than its folders.
 * @param spaces IDs of Spaces that workers run
 */
export async function heldAmong(ids: readonly string[], spaces: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await pool().query<{ id: string }>(
    "SELECT id FROM job_run WHERE id = ANY($1) AND finished_at IS NULL AND claimed_until > now()",
    [ids],
  );
  return new Set([...rows.map(({ id }) => id), ...ids.filter((id) => spaces.has(id))]);
}
