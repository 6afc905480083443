import { type Db, db, inTransaction } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { requireWritableRepo } from "../lfs/objects/record-lfs-object.ts";
import type { Repo } from "../repos/repo.ts";
import { addFiles, type DescribedFile, inBatches, ROWS_AT_ONCE, UNKNOWN_XORB } from "./add-files.ts";
import { ShardCheck } from "./check-file.ts";
import { CheckTurn, type TurnOptions } from "./check-turn.ts";
import { CHUNK_ENTRY_BYTES } from "./check-xorb.ts";
import { HASH_BYTES } from "./hashes.ts";
import { locationOfXetFile } from "./read-file.ts";
import { readShard, type ShardXorb } from "./shard.ts";
import { ENTRY_BYTES } from "./terms.ts";

/** The owner's storage is locked while these files are recorded. */
const FILES_AT_ONCE = 2_000;

/** Files may consist only of this repository's xorbs (S145). `mayStill` checks the right again after the check of the files. */
export async function registerShard(
  repo: Repo,
  shard: AsyncIterable<Uint8Array>,
  { mayStill, ...options }: Omit<TurnOptions, "within"> & { mayStill: () => Promise<unknown> },
): Promise<void> {
  await CheckTurn.run({ ...options, within: repo.id }, async (turn) => {
    const files = await checkAll(repo.id, shard, turn);
    await mayStill();
    for (const some of inBatches(files, FILES_AT_ONCE)) await recordFiles(repo.id, some);
  });
}

async function checkAll(repoId: string, shard: AsyncIterable<Uint8Array>, turn: CheckTurn): Promise<DescribedFile[]> {
  const files = new Map<string, DescribedFile>();
  const check = new ShardCheck(repoId, turn);
  try {
    for await (const part of readShard(shard)) {
      const file = "file" in part ? await check.checkFile(part.file) : await requireXorb(repoId, part.xorb);
      if (file) files.set(file.hash, file);
    }
  } catch (error) {
    if (turn.signal.aborted) throw new ServiceError("unavailable", "The request was closed.", { cause: error });
    throw error;
  }
  return [...files.values()];
}

/** A shard must not contradict the known chunks of a xorb. */
async function requireXorb(repoId: string, { hash, chunks }: ShardXorb): Promise<undefined> {
  const known = await db().xetXorb.findUnique({ where: { repoId_hash: { repoId, hash } }, select: { chunks: true } });
  if (!known) throw refuse(UNKNOWN_XORB);
  const entries = Buffer.from(known.chunks.buffer, known.chunks.byteOffset, known.chunks.byteLength);
  const count = chunks.length / ENTRY_BYTES;
  let isSame = count * CHUNK_ENTRY_BYTES === entries.length;
  for (let index = 0, dataEnd = 0; isSame && index < count; index++) {
    const [said, entry] = [chunks.subarray(index * ENTRY_BYTES), entries.subarray(index * CHUNK_ENTRY_BYTES)];
    const start = dataEnd;
    dataEnd += said.readUInt32LE(36);
    isSame = said.subarray(0, HASH_BYTES).equals(entry.subarray(0, HASH_BYTES));
    isSame &&= said.readUInt32LE(32) === start && entry.readUInt32LE(HASH_BYTES + 4) === dataEnd;
  }
  if (!isSame) throw refuse("A xorb's chunks do not match the shard.");
}

async function recordFiles(repoId: string, files: readonly DescribedFile[]): Promise<void> {
  const objects = files.map(({ hash, oid, size }) => {
    return { repoId, oid, sizeBytes: size, location: locationOfXetFile(hash), chunksDueAt: null };
  });
  const record = async (tx: Db) => {
    await tx.$executeRaw`SELECT FROM repo WHERE id = ${repoId} FOR KEY SHARE`;
    const repo = await requireWritableRepo(tx, repoId);
    for (const some of inBatches(objects, ROWS_AT_ONCE)) await tx.lfsObject.createMany({ data: some, skipDuplicates: true });
    await addFiles(tx, repo, files);
  };
  await inTransaction(record, { timeout: 60_000 });
}

const refuse = (sentence: string): ServiceError => new ServiceError("invalid_request", sentence);
