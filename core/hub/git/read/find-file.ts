import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { notFound } from "../../../errors.ts";
import { SMALL_BODY_BYTES } from "../../../fair-queue/body-budget.ts";
import type { ByteRange } from "../../../http/byte-range.ts";
import { type Watched, watchPace } from "../../../http/pace.ts";
import { openLfsObject } from "../../lfs/objects/open-lfs-object.ts";
import type { Repo } from "../../repos/repo.ts";
import { downloads } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { spawnGit } from "../run-git.ts";
import type { CommitSummary } from "./commit.ts";
import { isText, SNIFFED_BYTES } from "./content-type.ts";
import { type GitObjects, ObjectTooLarge, withObjects } from "./git-objects.ts";
import { findLastCommits } from "./last-commits.ts";
import { type Revision, resolveRevision } from "./revision.ts";
import { describeEntry, type Entry, requireEntry } from "./tree-entries.ts";
import { EXTRA_MAX_MS, ifInTime } from "./walk.ts";

export type FoundFile = {
  revision: Revision;
  sha: string;
  entry: Entry;
  storedSize: number;
  bytes?: Buffer;
  start?: Buffer;
};

type FileQuery = {
  revision: string;
  path: string;
  maxBytes?: number;
  /** Files up to this size get a `start`. */
  startMaxBytes?: number;
};

export async function findFile(repo: Repo, query: FileQuery): Promise<FoundFile> {
  return withObjects(await openRepository(repo), (objects) => findFileWith(objects, repo, query));
}

async function findFileWith(
  objects: GitObjects,
  repo: Repo,
  { revision: name, path, maxBytes = 0, startMaxBytes = 0 }: FileQuery,
): Promise<FoundFile> {
  const revision = await resolveRevision(objects, repo, name);
  const found = await requireEntry(objects, revision.sha, path);
  if (revision.sha === null || found === "root" || found.type === "directory" || found.type === "submodule") {
    throw notFound("Entry");
  }
  const entry = await describeEntry(objects, found, path);
  const storedSize = entry.lfs?.pointerSize ?? entry.size;
  const readMaxBytes = Math.max(maxBytes, startMaxBytes);
  const bytes = readMaxBytes > 0 ? await readAtMost(objects, entry.oid, readMaxBytes) : undefined;
  const file = { revision, sha: revision.sha, entry, storedSize };
  if (!bytes) return file;
  // A copy, because a slice would keep the whole buffer in memory.
  const start = startMaxBytes > 0 && { start: Buffer.copyBytesFrom(bytes, 0, SNIFFED_BYTES + 1) };
  return { ...file, ...start, ...(bytes.length <= maxBytes && { bytes }) };
}

async function readAtMost(objects: GitObjects, oid: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    return (await objects.read(oid, maxBytes))?.bytes;
  } catch (error) {
    if (error instanceof ObjectTooLarge) return undefined;
    throw error;
  }
}

const STREAM_MAX_MS = 6 * 60 * 60 * 1000;
/** This is long, because a client first reads what is buffered on the way. */
const READ_GRACE_MS = 5 * 60_000;

/** Ends a stream that is read too slowly, and sooner while other callers wait (S137). */
export async function streamBlob(repo: Repo, oid: string, pace?: Partial<Watched>): Promise<Readable> {
  const directory = await openRepository(repo);
  const release = await downloads.take({ within: directory });
  try {
    const blob = await startBlob(directory, oid);
    const stopWatching = watchPace({
      bytes: () => blob.bytesRead,
      // Git waits while this buffer is full.
      isWaiting: () => blob.readableLength >= blob.readableHighWaterMark,
      graceMs: READ_GRACE_MS,
      onTooSlow: () => blob.destroy(new Error("The file was read too slowly.")),
      mustYield: release.mustYield,
      ...pace,
    });
    const end = () => {
      stopWatching();
      release();
    };
    if (blob.closed) end();
    return blob.once("close", end);
  } catch (error) {
    release();
    throw error;
  }
}

async function startBlob(directory: string, oid: string): Promise<Socket> {
  const child = await spawnGit(directory, ["cat-file", "blob", oid], {
    // Otherwise git would keep the whole file in memory while the client reads it.
    config: ["core.bigFileThreshold=1m"],
    signal: AbortSignal.timeout(STREAM_MAX_MS),
    niceness: 10,
  });
  child.stdin.on("error", () => undefined).end();
  child.stderr.resume();
  child.once("error", (error) => child.stdout.destroy(error));
  child.once("exit", (status) => {
    if (status !== 0) child.stdout.destroy(new Error(`git cat-file ended with ${status}`));
  });
  return (child.stdout as Socket).on("error", () => undefined).once("close", () => child.kill("SIGKILL"));
}

export const OPEN_FILE_LIMITS = { maxBytes: SMALL_BODY_BYTES, startMaxBytes: 1024 * 1024 };

/** For a `file` that was found with `OPEN_FILE_LIMITS`. The caller must read or destroy the stream. */
export async function openFile(
  repo: Repo,
  file: FoundFile,
  { range, isPointer = false }: { range?: ByteRange; isPointer?: boolean },
): Promise<Buffer | Readable> {
  const { entry, bytes } = file;
  if (entry.lfs && !isPointer) return openLfsObject(repo, entry.lfs, { range });
  if (bytes) return range ? bytes.subarray(range.start, range.end + 1) : bytes;
  const all = await streamBlob(repo, entry.oid);
  return range ? sliceOf(all, range) : all;
}

function sliceOf(all: Readable, { start, end }: ByteRange): Readable {
  async function* wanted() {
    let at = 0;
    for await (const chunk of all as AsyncIterable<Buffer>) {
      const part = chunk.subarray(Math.max(start - at, 0), Math.max(end + 1 - at, 0));
      at += chunk.length;
      if (part.length > 0) yield part;
      if (at > end) return;
    }
  }
  const slice = Readable.from(wanted(), { objectMode: false });
  // A slice that is never read would never end its source.
  return slice.once("close", () => all.destroy());
}

const VIEW_MAX_BYTES = 512 * 1024;

export type ViewedFile = FoundFile & {
  lastCommit: CommitSummary | null;
  /** Null for binary, large and LFS files, and without the right to read content. */
  text: string | null;
  isText: boolean;
  isLate: boolean;
};

export async function viewFile(
  repo: Repo,
  { revision, path, withContent }: { revision: string; path: string; withContent: boolean },
): Promise<ViewedFile> {
  const file = await findFile(repo, { revision, path, maxBytes: withContent ? VIEW_MAX_BYTES : 0 });
  const query = { folder: path, paths: [path], waitMaxMs: EXTRA_MAX_MS };
  const commits = await ifInTime(findLastCommits(await openRepository(repo), file.sha, query));
  const isReadable = file.bytes !== undefined && !file.entry.lfs && isText(file.bytes);
  return {
    ...file,
    lastCommit: commits.value?.get(path) ?? null,
    isLate: commits.isLate,
    text: isReadable ? (file.bytes as Buffer).toString("utf8").replace(/^\ufeff/, "") : null,
    isText: isReadable,
  };
}
