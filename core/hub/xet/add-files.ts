import type { Db } from "../../db.ts";
import { invalidRequest } from "../../errors.ts";
import { requireRoom } from "../../storage/hold-storage.ts";
import type { Repo } from "../repos/repo.ts";

export type DescribedFile = {
  hash: string;
  oid: string;
  size: number;
  terms: Buffer;
  xorbHashes: ReadonlySet<string>;
  sampled: ReadonlyMap<string, string>;
};

/** Clients query one of 1,024 chunks, but a client can choose chunks that all qualify. */
export const SAMPLED_MAX = 16_384;
export const ROWS_AT_ONCE = 1_000;
const [FILE_ROWS_BYTES, CHUNK_ROW_BYTES] = [600, 400];

/** Call this with the repository's row locked. */
export async function addFiles(tx: Db, { id: repoId, owner }: Repo, files: readonly DescribedFile[]): Promise<void> {
  const xorbHashes = [...new Set(files.flatMap((file) => [...file.xorbHashes]))].sort();
  const chunks = files.flatMap(({ hash: fileHash, sampled }) =>
    [...sampled].map(([hash, xorbHash]) => ({ repoId, hash, xorbHash, fileHash })),
  );
  const rows = files.map(({ hash, oid, size, terms, sampled }) => ({
    ...{ repoId, hash, oid, sizeBytes: size, terms: Uint8Array.from(terms) },
    recordBytes: terms.length + FILE_ROWS_BYTES + sampled.size * CHUNK_ROW_BYTES,
  }));
  for (const some of inBatches(xorbHashes, ROWS_AT_ONCE)) {
    await tx.xetXorb.updateMany({ where: { repoId, hash: { in: some }, isNamed: false }, data: { isNamed: true } });
    if ((await tx.xetXorb.count({ where: { repoId, hash: { in: some } } })) !== some.length) throw invalidRequest(UNKNOWN_XORB);
  }
  for (const some of inBatches(chunks, ROWS_AT_ONCE)) await tx.xetChunk.createMany({ data: some, skipDuplicates: true });
  // This lock comes last, because others who store something for the owner wait for it until the transaction ends.
  const bytes = rows.reduce((sum, { recordBytes }) => sum + recordBytes, 0);
  await requireRoom(owner, bytes, files.length === 1 ? "this file" : "these files", { tx });
  for (const some of inBatches(rows, ROWS_AT_ONCE)) await tx.xetFile.createMany({ data: some, skipDuplicates: true });
}

export function* inBatches<T>(rows: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size);
}

export const UNKNOWN_XORB = "The shard refers to a xorb that was not uploaded to this repository. Upload it first.";
