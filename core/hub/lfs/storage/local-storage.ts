import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { env } from "../../../env.ts";
import { ServiceError } from "../../../errors.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import { newId } from "../../../ids.ts";
import { type AnnouncedContent, checkContent, type LfsStorage, lostContent, type ReceivedContent } from "./lfs-storage.ts";

const PREFIX = "local:";

/** Objects are stored by content, so that several repositories share one file. */
export const localStorage: LfsStorage = {
  newLocation: (_repoId, oid) => PREFIX + oid,
  receive,
  open: openFile,
  scan,
  pathOf,
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

async function receive(location: string, object: AnnouncedContent, content: AsyncIterable<Uint8Array>): Promise<ReceivedContent> {
  const { path, file } = await openIncoming(join(incoming(), newId()));
  const discard = () => rm(path, { force: true });
  try {
    for await (const chunk of checkContent(content, object)) await writeAll(file, chunk);
    await file.sync();
  } catch (error) {
    await file.close();
    await discard();
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") {
      throw new ServiceError("unavailable", "There is no space left for this file. Contact the operator of this service.", {
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
  // The entries of the file and its new folders must be on disk before a row refers to the file.
  for (let at = dirname(to); at.length >= dirname(folder()).length; at = dirname(at)) await syncFolder(at);
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  await handle.sync().finally(() => handle.close());
}

const READ_BYTES = 256 * 1024;

async function openFile(location: string, size: number, range?: ByteRange): Promise<Readable> {
  if (size === 0) return Readable.from([]);
  return createReadStream("", { fd: await openStored(location), ...range, highWaterMark: READ_BYTES });
}

async function* scan(location: string, { start, end }: ByteRange): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await openStored(location);
  try {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end + 1 - start));
    for (let at = start; at <= end; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end + 1 - at), at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

function openStored(location: string): Promise<FileHandle> {
  return open(pathOf(location), "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw lostContent(error);
    throw error;
  });
}

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
