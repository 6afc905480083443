import { setImmediate } from "node:timers/promises";
import { db } from "../../db.ts";
import { env } from "../../env.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { currentParty } from "../../fair-queue/party.ts";
import { type DescribedFile, SAMPLED_MAX, UNKNOWN_XORB } from "./add-files.ts";
import type { CheckTurn } from "./check-turn.ts";
import { XORB_CHUNKS_MAX } from "./check-xorb.ts";
import { CHUNK_MIN_BYTES, RUN_CHUNKS, SMALL_CHUNKS_MAX } from "./chunk.ts";
import { hashContent } from "./chunk-threads.ts";
import { HASH_BYTES, hashRange, hashText, isSampled, MerkleTree } from "./hashes.ts";
import { readChunks } from "./read-file.ts";
import type { ShardFile } from "./shard.ts";
import { ENTRY_BYTES, type LoadedTerm, loadChunks, placeTerms, sizesIn } from "./terms.ts";

const MB = 1_000_000;
const GB = 1_000 * MB;
const HOUR_MS = 3_600_000;

/** A client that describes more in an hour repeats the same chunks (S145). */
const BYTES_PER_HOUR = 1_000 * GB;
const BYTES_PER_SHARD = 200 * GB;
/** The average size of clients' chunks. Smaller chunks take longer to check than their size suggests. */
const CHUNK_MEAN_BYTES = 64 * 1024;
/** Checking this many bytes takes as long as opening a piece. In a bucket, opening a piece is a request. */
const TERM_COST_BYTES = 1024 * 1024;
const FILE_COST_BYTES = 1024 * 1024;
const CHUNKS_PER_TURN = 256;

export class ShardCheck {
  readonly #repoId: string;
  readonly #turn: CheckTurn;
  #bytes = 0;
  #sampled = 0;

  constructor(repoId: string, turn: CheckTurn) {
    this.#repoId = repoId;
    this.#turn = turn;
  }

  async checkFile(file: ShardFile): Promise<DescribedFile | undefined> {
    await this.#turn.pass();
    const { hash, oid, terms } = file;
    const { size, cost } = sizeOf(file);
    const known = await db().xetFile.findUnique({
      where: { repoId_hash: { repoId: this.#repoId, hash } },
      select: { oid: true },
    });
    if (known?.oid === oid) return undefined;
    if (known) throw refuse(WRONG_SHA256);
    this.#count(cost);
    const checked = await this.#checkChunks(file);
    if ((await hashContent(readChunks(this.#repoId, [terms], this.#turn))) !== oid) throw refuse(WRONG_SHA256);
    return { hash, oid, size, terms, ...checked };
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > BYTES_PER_SHARD) {
      throw new ServiceError(
        "payload_too_large",
        "The files of this shard are too large in total. Upload them in several commits.",
      );
    }
    countBytes(currentParty().key, bytes);
  }

  async #checkChunks(file: ShardFile): Promise<Pick<DescribedFile, "xorbHashes" | "sampled">> {
    const tree = new MerkleTree();
    const [xorbHashes, sampled] = [new Set<string>(), new Map<string, string>()];
    let [termAt, chunks, runStart, bytes] = [0, 0, 0, 0];
    for await (const loaded of this.#loadTerms(file)) {
      const { xorbHash } = loaded.term;
      xorbHashes.add(xorbHash);
      const hashes: Buffer[] = [];
      for (let chunk = 0; chunk < loaded.count; chunk++) {
        const hash = loaded.hashOf(chunk);
        hashes.push(hash);
        tree.add(hash, loaded.bytesOf(chunk));
        if (chunks === 0 || isSampled(hash)) this.#sample(sampled, hash, xorbHash);
        chunks += 1;
        bytes += loaded.bytesOf(chunk);
        if (chunks % RUN_CHUNKS === 0) {
          requireLargeChunks(file.hash, RUN_CHUNKS, bytes - runStart);
          runStart = bytes;
        }
        if (chunks % CHUNKS_PER_TURN === 0) await setImmediate();
      }
      // Knowing the hash of a xorb must not be enough to create a file from it.
      if (!hashRange(Buffer.concat(hashes)).equals(file.rangeHashes.subarray(termAt, termAt + HASH_BYTES))) {
        throw refuse(`A verification hash of the file ${file.hash} is wrong.`);
      }
      termAt += ENTRY_BYTES;
      await this.#turn.pass();
    }
    requireLargeChunks(file.hash, chunks % RUN_CHUNKS, bytes - runStart);
    if (hashText(tree.fileHash()) !== file.hash) throw refuse("A file's chunks do not match its hash.");
    return { xorbHashes, sampled };
  }

  async *#loadTerms(file: ShardFile): AsyncGenerator<LoadedTerm, void, undefined> {
    try {
      for await (const loaded of loadChunks(this.#repoId, placeTerms([file.terms]))) {
        const { start, end, bytes } = loaded.term;
        if (loaded.count !== end - start) throw refuse(`The file ${file.hash} refers to chunks that a xorb does not have.`);
        if (loaded.dataEnd(loaded.count - 1) !== bytes)
          throw refuse(`A piece of the file ${file.hash} does not have the size that the shard states.`);
        yield loaded;
      }
    } catch (error) {
      if (isServiceError(error) && error.code === "gone") throw refuse(UNKNOWN_XORB);
      throw error;
    }
  }

  #sample(sampled: Map<string, string>, hash: Buffer, xorbHash: string): void {
    if (this.#sampled >= SAMPLED_MAX) return;
    this.#sampled += 1;
    sampled.set(hashText(hash), xorbHash);
  }
}

function sizeOf({ hash, terms }: ShardFile): { size: number; cost: number } {
  let [size, cost, chunks] = [0, FILE_COST_BYTES, 0];
  for (const term of sizesIn(terms)) {
    // A larger number could exceed the database's integers (S51).
    if (term.chunks <= 0 || term.end > XORB_CHUNKS_MAX) throw refuse(`The file ${hash} refers to impossible chunks.`);
    size += term.bytes;
    chunks += term.chunks;
    cost += Math.max(term.bytes, term.chunks * CHUNK_MEAN_BYTES) + TERM_COST_BYTES;
  }
  if (size > env().LFS_MAX_OBJECT_MB * MB) {
    throw new ServiceError("payload_too_large", `A file can be at most ${env().LFS_MAX_OBJECT_MB.toLocaleString("en")} MB.`);
  }
  requireLargeChunks(hash, chunks, size);
  return { size, cost };
}

/** Call this for a whole file and for each run of chunks: small chunks could hide among large ones (S145). */
function requireLargeChunks(hash: string, chunks: number, bytes: number): void {
  if (chunks > SMALL_CHUNKS_MAX + bytes / CHUNK_MIN_BYTES) {
    throw refuse(`The chunks of the file ${hash} have fewer than ${CHUNK_MIN_BYTES.toLocaleString("en")} bytes on average.`);
  }
}

const PARTIES_MAX = 10_000;
/** When each caller will have paid for the checked bytes. The oldest entry comes first. */
const paidUntil = new Map<string, number>();

function countBytes(party: string, bytes: number, now = Date.now()): void {
  const until = Math.max(paidUntil.get(party) ?? 0, now) + (bytes / BYTES_PER_HOUR) * HOUR_MS;
  if (until > now + HOUR_MS) {
    const retryAfterSeconds = Math.ceil((until - now - HOUR_MS) / 1_000);
    throw new ServiceError("rate_limited", "You have uploaded too much in the last hour. Try again later.", {
      retryAfterSeconds,
    });
  }
  paidUntil.delete(party);
  paidUntil.set(party, until);
  if (paidUntil.size > PARTIES_MAX) paidUntil.delete(paidUntil.keys().next().value as string);
}

const WRONG_SHA256 = "The content of a file does not match its SHA-256.";
const refuse = (sentence: string): ServiceError => new ServiceError("invalid_request", sentence);
