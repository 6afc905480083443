import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Longer than any transfer may take (smart-http/transfer-settings.ts). */
const UNFINISHED_OLDER_THAN_MS = 24 * 60 * 60 * 1000;
const ENTRIES_MAX = 200_000;

/**
 * Removes what killed processes left in a repository: locks, which block a ref for ever, and unfinished files. Git holds a lock for
 * milliseconds, and the one on packed refs for seconds.
 */
export async function removeStaleFiles(path: string, { locksOlderThanMs }: { locksOlderThanMs: number }): Promise<number> {
  const now = Date.now();
  let removed = 0;
  const removeOlder = async (file: string, ageMs: number) => {
    const found = await stat(file).catch(() => undefined);
    // A folder is as old as the last entry added to it.
    if (!found || now - found.mtimeMs < ageMs) return;
    await rm(file, { recursive: true, force: true });
    removed += 1;
  };
  for (const name of await namesIn(path)) {
    if (name.endsWith(".lock")) await removeOlder(join(path, name), locksOlderThanMs);
  }
  for (const name of await namesIn(join(path, "refs"), { recursive: true })) {
    if (name.endsWith(".lock")) await removeOlder(join(path, "refs", name), locksOlderThanMs);
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

async function namesIn(directory: string, options: { recursive?: boolean } = {}): Promise<string[]> {
  const names = await readdir(directory, { ...options, encoding: "utf8" }).catch(() => []);
  return names.slice(0, ENTRIES_MAX);
}
