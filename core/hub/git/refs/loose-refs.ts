import type { Dir } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";

export const LOOSE_REFS_MAX = 500;
/** The folder `heads`, and 200 folders of a name with 400 bytes. */
const DEPTH_MAX = 201;
const ENTRIES_MAX = 200_000;
/** The space that a file system uses for a small file or a folder. */
export const REF_BYTES = 4_096;
const COUNT_MAX_MS = 2_000;

type Entry = { path: string; depth: number };

/** Yields one entry at a time, because there may be hundreds of thousands (S137). */
export async function* entriesOfRefs(path: string, entriesMax = ENTRIES_MAX): AsyncGenerator<Entry, void, undefined> {
  const open: Dir[] = [];
  const enter = async (folder: string) => {
    const dir = await opendir(folder, { bufferSize: 256 }).catch(() => undefined);
    if (dir) open.push(dir);
  };
  try {
    await enter(join(path, "refs"));
    for (let entries = 0; entries < entriesMax; ) {
      const dir = open.at(-1);
      if (!dir) return;
      const entry = await dir.read();
      if (!entry) await open.pop()?.close();
      else {
        entries++;
        yield { path: join(dir.path, entry.name), depth: open.length };
        if (entry.isDirectory() && open.length < DEPTH_MAX) await enter(join(dir.path, entry.name));
      }
    }
  } finally {
    for (const dir of open) await dir.close();
  }
}

/** Loose refs are files that count toward the quota (S137). Counts fewer if a slow disk does not answer in time. */
export async function countRefs(path: string): Promise<{ loose: number; bytes: number }> {
  const deadline = performance.now() + COUNT_MAX_MS;
  const packed = await stat(join(path, "packed-refs")).catch(() => undefined);
  let loose = 0;
  for await (const { depth } of entriesOfRefs(path)) {
    if (depth > 1) loose++;
    if (performance.now() > deadline) break;
  }
  return { loose, bytes: loose * REF_BYTES + (packed?.size ?? 0) };
}
