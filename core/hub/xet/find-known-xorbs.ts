import { randomBytes } from "node:crypto";
import { db } from "../../db.ts";
import { fairQueue } from "../../fair-queue/fair-queue.ts";
import { CHUNK_ENTRY_BYTES } from "./check-xorb.ts";
import { HASH_BYTES } from "./hashes.ts";
import { writeKnownXorbs } from "./shard.ts";
import { placeTerms, storedTerms } from "./terms.ts";

const XORBS_MAX = 16;
/** As many chunks as sixteen usual xorbs have. */
const CHUNKS_MAX = 16_384;
const KNOWN_DAYS = 7;

const answers = fairQueue({ name: "xet_known_xorbs", slots: 4, waitMaxMs: 30_000 });

/**
 * Reveals nothing new to readers of the repository (S145).
 * @returns undefined if the repository lacks the chunk, or clients may not query it. They may query one chunk of 1,024.
 */
export async function findKnownXorbs(repoId: string, chunkHash: string, now = Date.now()): Promise<Buffer | undefined> {
  const chunk = await db().xetChunk.findUnique({ where: { repoId_hash: { repoId, hash: chunkHash } } });
  if (!chunk) return undefined;
  const describe = async () => {
    const hashes = await wantedXorbs(repoId, chunk);
    const xorbs = await db().$queryRaw<{ hash: string; sizeBytes: number; chunks: Uint8Array }[]>`
      SELECT x.hash, x.size_bytes::float8 AS "sizeBytes", x.chunks
        FROM unnest(${hashes}::text[]) AS wanted(hash) JOIN xet_xorb x ON x.repo_id = ${repoId} AND x.hash = wanted.hash`;
    const expiresAt = new Date(now + KNOWN_DAYS * 86_400_000);
    return writeKnownXorbs(xorbs, { key: randomBytes(HASH_BYTES), expiresAt });
  };
  return answers.run(describe, { within: repoId });
}

async function wantedXorbs(repoId: string, { fileHash, xorbHash }: { fileHash: string; xorbHash: string }): Promise<string[]> {
  const hashes = new Set([xorbHash]);
  let isPast = false;
  for await (const term of placeTerms(storedTerms(repoId, fileHash))) {
    isPast ||= term.xorbHash === xorbHash;
    if (isPast) hashes.add(term.xorbHash);
    if (hashes.size === XORBS_MAX) break;
  }
  const sizes = await db().$queryRaw<{ hash: string; bytes: number }[]>`
    SELECT hash, octet_length(chunks)::int AS bytes FROM xet_xorb WHERE repo_id = ${repoId} AND hash = ANY (${[...hashes]}::text[])`;
  const bytesOf = new Map(sizes.map(({ hash, bytes }) => [hash, bytes]));
  let left = CHUNKS_MAX * CHUNK_ENTRY_BYTES;
  return [...hashes].filter((hash) => {
    left -= bytesOf.get(hash) ?? 0;
    return left >= 0;
  });
}
