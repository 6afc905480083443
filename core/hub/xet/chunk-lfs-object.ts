import { addAbortSignal } from "node:stream";
import { db, inTransaction, pool } from "../../db.ts";
import { isServiceError } from "../../errors.ts";
import { log } from "../../log.ts";
import type { LeasedTable } from "../../postgres/leased-table.ts";
import { storageOf } from "../lfs/storage/storages.ts";
import { readRepo } from "../repos/read-repos.ts";
import { addFiles, type DescribedFile, SAMPLED_MAX } from "./add-files.ts";
import { entryOf } from "./check-xorb.ts";
import { CHUNK_HEADER_BYTES } from "./chunk.ts";
import { splitContent } from "./chunk-threads.ts";
import { HASH_BYTES, hashText, isSampled, MerkleTree } from "./hashes.ts";
import { xetHashAt } from "./read-file.ts";
import { FOUND_BYTES } from "./split-content.ts";
import { termEntry } from "./terms.ts";

/** A row's ID is that of an owner, so an owner with many files waits for others after each file. */
export const lfsChunkingTable: LeasedTable = { name: "lfs_chunking", isOpen: "true" };

export const LFS_CHUNKING_CHANNEL = "lfs_chunking";

export type DueChunking = { id: string; due_at: Date };

type DueObject = { repoId: string; oid: string; size: number; location: string };

/** Makes a file readable by Xet, so that clients send only new chunks of its next version (docs/decisions/085). */
export async function chunkLfsObject({ id: ownerId, due_at: dueAt }: DueChunking, claimId: string): Promise<void> {
  // Reads one file of each repository, because an owner may have a hundred thousand due files (S137).
  const [object] = await db().$queryRaw<DueObject[]>`
    SELECT o.* FROM repo r CROSS JOIN LATERAL (
        SELECT repo_id AS "repoId", oid, size_bytes::float8 AS size, location, chunks_due_at FROM lfs_object
         WHERE repo_id = r.id AND chunks_due_at <= now() ORDER BY chunks_due_at LIMIT 1) o
     WHERE r.owner_id = ${ownerId} ORDER BY o.chunks_due_at LIMIT 1`;
  if (object) await chunkObject(object);
  await planNext(ownerId, dueAt, claimId);
}

const RETRY_MS = 24 * 60 * 60 * 1_000;

async function chunkObject(object: DueObject): Promise<void> {
  const { repoId, oid, location } = object;
  try {
    const isKnown = xetHashAt(location) !== undefined || (await db().xetFile.count({ where: { repoId, oid } })) > 0;
    if (isKnown) await db().lfsObject.updateMany({ where: { repoId, oid }, data: { chunksDueAt: null } });
    else await record(object, await describeFile(object));
  } catch (err) {
    const isOver = isServiceError(err) && err.code === "gone";
    log().warn({ err, repo: repoId, oid }, "a large file could not be divided into chunks; clients read it through Git LFS");
    const chunksDueAt = isOver ? null : new Date(Date.now() + RETRY_MS);
    await db().lfsObject.updateMany({ where: { repoId, oid }, data: { chunksDueAt } });
  }
}

/** The row stays if a file arrived after the claim. */
async function planNext(ownerId: string, dueAt: Date, claimId: string): Promise<void> {
  const { rows } = await pool().query<{ next: Date | null }>(
    `SELECT min(o.next) AS next FROM repo r CROSS JOIN LATERAL (
        SELECT chunks_due_at AS next FROM lfs_object WHERE repo_id = r.id AND chunks_due_at IS NOT NULL ORDER BY chunks_due_at LIMIT 1) o
      WHERE r.owner_id = $1`,
    [ownerId],
  );
  const next = rows[0]?.next;
  if (!next)
    await pool().query("DELETE FROM lfs_chunking WHERE id = $1 AND claim_id = $2 AND due_at = $3", [ownerId, claimId, dueAt]);
  // The owner queues behind others who are due. The time is cut to milliseconds, because PostgreSQL could round it up.
  await pool().query(
    `UPDATE lfs_chunking SET claim_id = NULL, claimed_until = NULL, attempts = 0, due_at = greatest(date_trunc('milliseconds', now()), $3)
      WHERE id = $1 AND claim_id = $2`,
    [ownerId, claimId, next ?? null],
  );
}

const XORB = { chunks: 1_024, bytes: 64 * 1024 * 1024 };

async function describeFile({ repoId, oid, size, location }: DueObject): Promise<DescribedFile> {
  const [tree, terms] = [new MerkleTree(), [] as Buffer[]];
  const [xorbHashes, sampled] = [new Set<string>(), new Map<string, string>()];
  let [part, startsAt] = [new PartOfFile(), 0];
  const finish = async () => {
    const { hash, entries, queried } = part.end();
    const place = { location, hasHeaders: false, startsAt };
    await db().xetXorb.createMany({ data: [{ repoId, hash, ...place, sizeBytes: 0, chunks: entries }], skipDuplicates: true });
    terms.push(termEntry({ xorbHash: hash, bytes: part.bytes, start: 0, end: part.count }));
    xorbHashes.add(hash);
    for (const chunk of queried) if (sampled.size < SAMPLED_MAX) sampled.set(chunk, hash);
    [part, startsAt] = [new PartOfFile(), startsAt + part.bytes];
  };
  for await (const found of splitContent(contentOf(location, size))) {
    for (let at = 0; at < found.byteLength; at += FOUND_BYTES) {
      const entry = Buffer.from(found.buffer, found.byteOffset + at, FOUND_BYTES);
      const [hash, length] = [entry.subarray(0, HASH_BYTES), entry.readUInt32LE(HASH_BYTES)];
      if (part.count === XORB.chunks || part.bytes + length > XORB.bytes) await finish();
      tree.add(hash, length);
      part.add(hash, length, { isQueried: startsAt + part.bytes === 0 || isSampled(hash) });
    }
  }
  if (part.count > 0) await finish();
  return { hash: hashText(tree.fileHash()), oid, size, terms: Buffer.concat(terms), xorbHashes, sampled };
}

const SILENCE_MAX_MS = 60_000;

async function* contentOf(location: string, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  if (size === 0) return;
  const { scan, open } = storageOf(location);
  if (scan) return yield* scan(location, { start: 0, end: size - 1 });
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error("the bucket sent nothing for too long")), SILENCE_MAX_MS);
  try {
    for await (const piece of addAbortSignal(silence.signal, await open(location, size))) {
      timer.refresh();
      yield piece as Uint8Array;
    }
  } finally {
    clearTimeout(timer);
  }
}

class PartOfFile {
  bytes = 0;
  readonly #queried: string[] = [];
  readonly #tree = new MerkleTree();
  readonly #entries: Buffer[] = [];

  get count(): number {
    return this.#entries.length;
  }

  add(hash: Buffer, length: number, { isQueried }: { isQueried: boolean }): void {
    this.bytes += length;
    this.#tree.add(hash, length);
    this.#entries.push(entryOf(hash, this.bytes + (this.count + 1) * CHUNK_HEADER_BYTES, this.bytes));
    if (isQueried) this.#queried.push(hashText(hash));
  }

  end(): { hash: string; entries: Uint8Array<ArrayBuffer>; queried: string[] } {
    return {
      hash: hashText(this.#tree.xorbHash()),
      entries: Uint8Array.from(Buffer.concat(this.#entries)),
      queried: this.#queried,
    };
  }
}

async function record({ repoId, oid, location }: DueObject, file: DescribedFile): Promise<void> {
  await inTransaction(async (tx) => {
    await tx.$executeRaw`SELECT FROM repo WHERE id = ${repoId} FOR KEY SHARE`;
    const { count } = await tx.lfsObject.updateMany({ where: { repoId, oid, location }, data: { chunksDueAt: null } });
    const repo = await readRepo(repoId, tx);
    if (repo && count > 0) await addFiles(tx, repo, [file]);
  });
}
