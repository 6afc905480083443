import { Readable } from "node:stream";
import { db } from "../../db.ts";
import type { ByteRange } from "../../http/byte-range.ts";
import { lostContent } from "../lfs/storage/lfs-storage.ts";
import { storageOf } from "../lfs/storage/storages.ts";
import { CHUNK_ENTRY_BYTES } from "./check-xorb.ts";
import { headerOfPlainChunk } from "./chunk.ts";
import { HASH_BYTES } from "./hashes.ts";

/** A xorb without headers is a part of a Git LFS file, which begins at `startsAt`. */
export type XorbPlace = { hash: string; location: string; hasHeaders: boolean; startsAt: number };

/** Adds headers to the chunks of a Git LFS file. `range` consists of whole chunks. */
export async function openXorb(repoId: string, xorb: XorbPlace, range: ByteRange): Promise<Readable> {
  const storage = storageOf(xorb.location);
  if (xorb.hasHeaders) return storage.open(xorb.location, range.end + 1, range);
  const { data, lengths } = await dataOf(repoId, xorb, range);
  const content = await storage.open(xorb.location, data.end + 1, data);
  return Readable.from(withHeaders(content, lengths), { objectMode: false });
}

export async function dataOf(repoId: string, { hash, startsAt }: XorbPlace, range: ByteRange) {
  const row = await db().xetXorb.findUnique({ where: { repoId_hash: { repoId, hash } }, select: { chunks: true } });
  if (!row) throw lostContent();
  const entries = Buffer.from(row.chunks.buffer, row.chunks.byteOffset, row.chunks.byteLength);
  const lengths: number[] = [];
  let [start, end] = [0, 0];
  for (let at = HASH_BYTES; at < entries.length; at += CHUNK_ENTRY_BYTES) {
    const [packedEnd, dataEnd] = [entries.readUInt32LE(at), entries.readUInt32LE(at + 4)];
    if (packedEnd > range.end + 1) break;
    if (packedEnd > range.start) lengths.push(dataEnd - end);
    else start = dataEnd;
    end = dataEnd;
  }
  return { lengths, data: { start: startsAt + start, end: startsAt + end - 1 } };
}

async function* withHeaders(
  content: AsyncIterable<Uint8Array>,
  lengths: readonly number[],
): AsyncGenerator<Uint8Array, void, undefined> {
  let [next, left] = [0, 0];
  for await (const piece of content) {
    for (let at = 0; at < piece.byteLength; ) {
      if (left === 0) {
        left = lengths[next++] as number;
        yield headerOfPlainChunk(left);
      }
      const some = piece.subarray(at, at + left);
      at += some.byteLength;
      left -= some.byteLength;
      yield some;
    }
  }
}
