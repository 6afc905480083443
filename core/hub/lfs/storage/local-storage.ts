import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { env } from "../../../env.ts";
import { ServiceError } from "../../../errors.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import { newId } from "../../../ids.ts";
import type { LfsObjectId } from "../lfs-object.ts";
import { checkContent } from "./check-content.ts";
import type { LfsStorage, ReceivedContent } from "./lfs-storage.ts";

const PREFIX = "local:";

/** In DATA_DIR, by content: what several repositories have lies there once. */
export const localStorage: LfsStorage = {
  newLocation: (_repoId, oid) => PREFIX + oid,
  receive,
  open: openFile,
  async remove(location) {
    await rm(pathOf(location), { force: true });
  },
  async probe() {
    const handle = await openIncoming(join(incoming(), newId()));
    await handle.file.close();
    await rm(handle.path);
  },
};

const folder = (): string => join(env().DATA_DIR, "lfs");
const incoming = (): string => join(folder(), "incoming");

function pathOf(location: string): string {
  const oid = location.slice(PREFIX.length);
  return join(folder(), "objects", oid.slice(0, 2), oid.slice(2, 4), oid);
}

async function openIncoming(path: string): Promise<{ path: string; file: FileHandle }> {
  await mkdir(incoming(), { recursive: true, mode: 0o700 });
  return { path, file: await open(path, "wx", 0o600) };
}

/** Writes beside its place, and moves it there only once it is whole and on the disk. */
async function receive(location: string, object: LfsObjectId, content: AsyncIterable<Uint8Array>): Promise<ReceivedContent> {
  const { path, file } = await openIncoming(join(incoming(), newId()));
  const discard = () => rm(path, { force: true });
  try {
    for await (const chunk of checkContent(content, object)) await writeAll(file, chunk);
    await file.sync();
  } catch (error) {
    await file.close();
    await discard();
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") {
      throw new ServiceError("unavailable", "There is no room left for this file. Tell the operator of this service.", {
        cause: error,
      });
    }
    throw error;
  }
  await file.close();
  return { keep: () => moveInto(path, pathOf(location)), discard };
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.byteLength; ) at += (await file.write(chunk, at)).bytesWritten;
}

async function moveInto(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await rename(from, to);
  // The name is on the disk too before a row says that it is there.
  const parent = await open(dirname(to), "r");
  await parent.sync().finally(() => parent.close());
}

async function openFile(location: string, size: number, range?: ByteRange): Promise<Readable> {
  if (size === 0) return Readable.from([]);
  const file = await open(pathOf(location), "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw new ServiceError("gone", "The content of this file is lost.", { cause: error });
    throw error;
  });
  return createReadStream("", { fd: file, ...range, highWaterMark: 256 * 1024 });
}

/** Removes what killed processes left half-written. */
export async function removeAbandonedUploads(olderThan: Date): Promise<number> {
  const names = await readdir(incoming()).catch(() => [] as string[]);
  let removed = 0;
  for (const name of names) {
    const path = join(incoming(), name);
    const entry = await stat(path).catch(() => undefined);
    if (!entry || entry.mtime >= olderThan) continue;
    await rm(path, { force: true });
    removed++;
  }
  return removed;
}
