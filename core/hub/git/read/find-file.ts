import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { notFound } from "../../../errors.ts";
import { type Watched, watchPace } from "../../../http/pace.ts";
import type { Repo } from "../../repos/repo.ts";
import { downloads } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { spawnGit } from "../run-git.ts";
import { SNIFFED_BYTES } from "./content-type.ts";
import { describeEntry, type Entry } from "./entry.ts";
import { requireEntry } from "./find-entry.ts";
import { type GitObjects, ObjectTooLarge, withObjects } from "./git-objects.ts";
import { type Revision, resolveRevision } from "./revision.ts";

/** A file of a revision. */
export type FoundFile = {
  revision: Revision;
  sha: string;
  entry: Entry;
  /** The size of what git stores: of the pointer, if the file is in Git LFS. */
  storedSize: number;
  /** What git stores; undefined when it is larger than the requested `maxBytes`. */
  bytes?: Buffer;
  /** Its first bytes, if they were requested and the file is not larger than the limit for that. */
  start?: Buffer;
};

export type FileQuery = {
  revision: string;
  path: string;
  /** How much to read at most; by default nothing. */
  maxBytes?: number;
  /** If a file is larger than `maxBytes`, its first bytes are read for the content type, up to this size of the file. */
  startMaxBytes?: number;
};

/**
 * Finds a file of a revision, with its content when that is small.
 * @throws ServiceError `not_found` (RevisionNotFound; EntryNotFound, also for folders and submodules)
 */
export async function findFile(repo: Repo, query: FileQuery): Promise<FoundFile> {
  return withObjects(await openRepository(repo), (objects) => findFileWith(objects, repo, query));
}

/** The same with objects that are open already. */
export async function findFileWith(
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
  // A copy, because a slice would keep the whole buffer.
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

/** How long a download may take in total. */
const STREAM_MAX_MS = 6 * 60 * 60 * 1000;
/** How long a client may read nothing at all: it first reads what is in buffers on the way. */
const READ_GRACE_MS = 5 * 60_000;

/**
 * Streams the bytes of a blob; ending the stream ends git and releases its slot. A reader who is too slow is ended too, sooner while
 * others wait (S137): a download can be resumed with a range.
 * @param oid of an entry that was found here
 * @throws ServiceError `unavailable`
 */
export async function streamBlob(repo: Repo, oid: string, pace?: Partial<Watched>): Promise<Readable> {
  const directory = await openRepository(repo);
  const release = await downloads.take({ within: directory });
  try {
    const blob = await startBlob(directory, oid);
    const stopWatching = watchPace({
      bytes: () => blob.bytesRead,
      // Git waits while the buffer here is full.
      isWaiting: () => blob.readableLength >= blob.readableHighWaterMark,
      graceMs: READ_GRACE_MS,
      onTooSlow: () => blob.destroy(new Error("It was read too slowly.")),
      yields: release.yields,
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
    // Otherwise git keeps the whole file in memory for as long as the client takes to read it.
    config: ["core.bigFileThreshold=1m"],
    signal: AbortSignal.timeout(STREAM_MAX_MS),
    niceness: 10,
  });
  child.stdin.on("error", () => undefined).end();
  child.stderr.resume();
  child.once("error", (error) => child.stdout.destroy(error));
  child.once("exit", (status) => {
    // Fewer bytes than announced must not pass for the whole file.
    if (status !== 0) child.stdout.destroy(new Error(`git cat-file ended with ${status}`));
  });
  // The reader gets errors, if there is one.
  return (child.stdout as Socket).on("error", () => undefined).once("close", () => child.kill("SIGKILL"));
}
