import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { newId } from "../../../ids.ts";

const STALE_MS = 24 * 60 * 60 * 1000;
// Large files are neither held whole nor compared with each other.
// An event that says that a commit was made outlives a power failure, and so does the commit.
const CONFIG = `[core]
\trepositoryformatversion = 0
\tbare = true
\tlogAllRefUpdates = false
\tfsync = objects,derived-metadata
\tfsyncMethod = batch
`;

export type Quarantine = {
  /** A bare repository of its own that sees the objects of the real one; whatever is written there is written here. */
  path: string;
  /** Moves what was written into the real repository. */
  release: () => Promise<void>;
  /** Removes it with whatever is still in it. */
  discard: () => Promise<void>;
};

/**
 * A place for objects of a change that may still fail. A change that is refused, or whose sender goes away, leaves nothing behind in
 * the repository; git's own receive-pack does the same for a push.
 */
export async function openQuarantine(repositoryPath: string): Promise<Quarantine> {
  const all = join(repositoryPath, "quarantine");
  const path = join(all, newId());
  await mkdir(join(path, "objects", "info"), { recursive: true, mode: 0o700 });
  await mkdir(join(path, "refs"));
  await Promise.all([
    writeFile(join(path, "HEAD"), "ref: refs/heads/none\n"),
    writeFile(join(path, "config"), CONFIG),
    writeFile(join(path, "objects", "info", "alternates"), `${resolve(repositoryPath, "objects")}\n`),
    removeStale(all),
  ]);
  return {
    path,
    release: () => moveObjects(join(path, "objects"), join(repositoryPath, "objects")),
    discard: () => rm(path, { recursive: true, force: true }),
  };
}

/** What killed processes left behind. */
async function removeStale(all: string): Promise<void> {
  for (const name of await readdir(all)) {
    const made = await stat(join(all, name)).catch(() => undefined);
    if (made && Date.now() - made.mtimeMs > STALE_MS) await rm(join(all, name), { recursive: true, force: true });
  }
}

/** A file of the same name has the same content: objects and packs are called by their hash. */
async function moveObjects(from: string, to: string): Promise<void> {
  for (const folder of await readdir(from)) {
    if (folder === "info") continue;
    await mkdir(join(to, folder), { recursive: true });
    const names = await readdir(join(from, folder));
    // Git finds a pack by its index, which therefore comes last.
    for (const name of names.sort((a, b) => Number(a.endsWith(".idx")) - Number(b.endsWith(".idx")))) {
      await rename(join(from, folder, name), join(to, folder, name));
    }
  }
}
