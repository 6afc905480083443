import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { newId } from "../../../ids.ts";

const STALE_MS = 24 * 60 * 60 * 1000;
const TRIES = 20;
// A commit's event survives a power failure, so the commit must survive too.
const CONFIG = `[core]
\trepositoryformatversion = 0
\tbare = true
\tlogAllRefUpdates = false
\tfsync = objects,derived-metadata
\tfsyncMethod = batch
`;

export type Quarantine = {
  path: string;
  release: () => Promise<void>;
  discard: () => Promise<void>;
};

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

async function removeStale(all: string): Promise<void> {
  for (const name of await readdir(all)) {
    const made = await stat(join(all, name)).catch(() => undefined);
    if (made && Date.now() - made.mtimeMs > STALE_MS) await rm(join(all, name), { recursive: true, force: true });
  }
}

/** Objects and packs are named by their hash, so an existing file has the same content. */
async function moveObjects(from: string, to: string): Promise<void> {
  for (const folder of await readdir(from)) {
    if (folder === "info") continue;
    const names = await readdir(join(from, folder));
    // Git finds a pack by its index, so the index is moved last.
    for (const name of names.sort((a, b) => Number(a.endsWith(".idx")) - Number(b.endsWith(".idx")))) {
      await moveInto(join(to, folder), join(from, folder, name), name);
    }
  }
}

async function moveInto(folder: string, from: string, name: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await rename(from, join(folder, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === TRIES) throw error;
      await mkdir(folder, { recursive: true });
    }
  }
}
