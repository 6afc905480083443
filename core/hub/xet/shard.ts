import { setImmediate } from "node:timers/promises";
import { ServiceError } from "../../errors.ts";
import { CHUNK_ENTRY_BYTES, XORB_CHUNKS_MAX } from "./check-xorb.ts";
import { HASH_BYTES, hashOfText, hashText, keyedHash } from "./hashes.ts";
import { ENTRY_BYTES } from "./terms.ts";

/** Xet Protocol Specification 1.1, "MDB Shard File Format". */
export const SHARD_MAX_BYTES = 64 * 1024 * 1024;
/** Clients put all files of a commit into one shard. */
const FILES_MAX = 20_000;
/** Enough for 256 GB in full xorbs. */
const XORBS_MAX = 4_096;
/** Enough for a file of 50 GB in pieces shorter than those of clients. */
const TERMS_OF_FILE_MAX = 100_000;
const TERMS_MAX = 2 * TERMS_OF_FILE_MAX;

const TAG = Buffer.from("48465265706f4d6574614461746100556967456a7b815783a5bdd95ccdd14aa9", "hex");
const VERSION = 2;
const FOOTER_BYTES = 200;
const WITH_RANGE_HASHES = 0x80000000;
const WITH_SHA256 = 0x40000000;

export type ShardFile = {
  hash: string;
  oid: string;
  terms: Buffer;
  /** Has an entry for each term. An entry begins with the hash over the hashes of the term's chunks. */
  rangeHashes: Buffer;
};

export type ShardXorb = { hash: string; chunks: Buffer };

/** Checks each number of entries before reading the entries (S145). */
export async function* readShard(
  shard: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ file: ShardFile } | { xorb: ShardXorb }, void, undefined> {
  const reader = new EntryReader(shard);
  try {
    yield* readParts(reader);
  } finally {
    await reader.close();
  }
}

async function* readParts(reader: EntryReader): AsyncGenerator<{ file: ShardFile } | { xorb: ShardXorb }, void, undefined> {
  await reader.readHeader();
  let [files, xorbs, terms] = [0, 0, 0];
  for (let entry = await reader.next(); !isEnd(entry); entry = await reader.next()) {
    const count = entry.readUInt32LE(36);
    files += 1;
    terms += count;
    if (files > FILES_MAX) throw refuse(`A shard can describe at most ${FILES_MAX.toLocaleString("en")} files.`);
    if (count > TERMS_OF_FILE_MAX) throw refuse(`A file can have at most ${TERMS_OF_FILE_MAX.toLocaleString("en")} pieces.`);
    if (terms > TERMS_MAX) throw refuse(`The files of a shard can have at most ${TERMS_MAX.toLocaleString("en")} pieces.`);
    yield { file: await readFile(entry, reader) };
  }
  for (let entry = await reader.next(); !isEnd(entry); entry = await reader.next()) {
    const count = entry.readUInt32LE(36);
    xorbs += 1;
    if (xorbs > XORBS_MAX) throw refuse(`A shard can describe at most ${XORBS_MAX.toLocaleString("en")} xorbs.`);
    if (count > XORB_CHUNKS_MAX) throw refuse(`A xorb can have at most ${XORB_CHUNKS_MAX.toLocaleString("en")} chunks.`);
    yield { xorb: { hash: hashText(entry.subarray(0, HASH_BYTES)), chunks: await reader.take(count) } };
  }
  await reader.requireEnd();
}

async function readFile(header: Buffer, reader: EntryReader): Promise<ShardFile> {
  const [flags, count] = [header.readUInt32LE(32), header.readUInt32LE(36)];
  const hash = hashText(header.subarray(0, HASH_BYTES));
  if ((flags & WITH_RANGE_HASHES) === 0) throw refuse(`The file ${hash} lacks its verification hashes.`);
  if ((flags & WITH_SHA256) === 0) throw refuse(`The file ${hash} lacks its SHA-256, which git needs.`);
  const [terms, rangeHashes] = [await reader.take(count), await reader.take(count)];
  return { hash, oid: hashText((await reader.next()).subarray(0, HASH_BYTES)), terms, rangeHashes };
}

const isEnd = (entry: Buffer): boolean => entry.subarray(0, HASH_BYTES).every((byte) => byte === 0xff);

class EntryReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest = Buffer.alloc(0);
  #footerBytes = 0;

  constructor(shard: AsyncIterable<Uint8Array>) {
    this.#pieces = shard[Symbol.asyncIterator]();
  }

  async readHeader(): Promise<void> {
    const header = await this.next();
    const isShard = header.subarray(0, TAG.length).equals(TAG) && header.readBigUInt64LE(32) === BigInt(VERSION);
    this.#footerBytes = Number(header.readBigUInt64LE(40));
    if (!isShard || ![0, FOOTER_BYTES].includes(this.#footerBytes)) throw refuse("This is not a shard of a known version.");
  }

  next(): Promise<Buffer> {
    return this.take(1);
  }

  async take(count: number): Promise<Buffer> {
    const taken = await this.#read(count * ENTRY_BYTES);
    if (taken.length < count * ENTRY_BYTES) throw refuse("The shard ends too early.");
    return taken;
  }

  async requireEnd(): Promise<void> {
    const { length } = await this.#read(this.#footerBytes + 1);
    if (length !== 0 && length !== this.#footerBytes) throw refuse("The shard has data after its end.");
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #read(bytes: number): Promise<Buffer> {
    const pieces = [this.#rest];
    for (let length = this.#rest.length; length < bytes; ) {
      const { value, done } = await this.#pieces.next();
      if (done) break;
      pieces.push(Buffer.from(value));
      length += value.byteLength;
    }
    const joined = pieces.length === 1 ? this.#rest : Buffer.concat(pieces);
    this.#rest = joined.subarray(bytes);
    return joined.subarray(0, bytes);
  }
}

type KnownXorb = { hash: string; sizeBytes: number; chunks: Uint8Array };

const CHUNKS_PER_TURN = 256;

/** Blinds the hashes with the shard's own key, so that they reveal only chunks that the client has. */
export async function writeKnownXorbs(
  xorbs: readonly KnownXorb[],
  { key, expiresAt }: { key: Buffer; expiresAt: Date },
): Promise<Buffer> {
  const header = Buffer.alloc(ENTRY_BYTES);
  TAG.copy(header);
  header.writeBigUInt64LE(BigInt(VERSION), 32);
  header.writeBigUInt64LE(BigInt(FOOTER_BYTES), 40);
  const end = Buffer.alloc(ENTRY_BYTES).fill(0xff, 0, HASH_BYTES);
  const sections: Buffer[] = [header, end];
  const blind = keyedHash(key);
  for (const xorb of xorbs) sections.push(await writeXorb(xorb, blind));
  sections.push(end);
  const footerAt = sections.reduce((sum, { length }) => sum + length, 0);
  const footer = Buffer.alloc(FOOTER_BYTES);
  const fields: [at: number, value: number][] = [
    [0, 1],
    [8, ENTRY_BYTES],
    [16, 2 * ENTRY_BYTES],
    // Where the three omitted indexes would begin.
    [24, footerAt],
    [40, footerAt],
    [56, footerAt],
    [104, Math.floor(Date.now() / 1000)],
    [112, Math.floor(expiresAt.getTime() / 1000)],
    [192, footerAt],
  ];
  for (const [at, value] of fields) footer.writeBigUInt64LE(BigInt(value), at);
  key.copy(footer, 72);
  return Buffer.concat([...sections, footer]);
}

async function writeXorb({ hash, sizeBytes, chunks }: KnownXorb, blind: (hash: Buffer) => Buffer): Promise<Buffer> {
  const known = Buffer.from(chunks.buffer, chunks.byteOffset, chunks.byteLength);
  const count = known.length / CHUNK_ENTRY_BYTES;
  const written = Buffer.alloc((1 + count) * ENTRY_BYTES);
  hashOfText(hash).copy(written);
  written.writeUInt32LE(count, 36);
  let dataEnd = 0;
  for (let index = 0; index < count; index++) {
    const from = index * CHUNK_ENTRY_BYTES;
    const to = (index + 1) * ENTRY_BYTES;
    const nextEnd = known.readUInt32LE(from + HASH_BYTES + 4);
    blind(known.subarray(from, from + HASH_BYTES)).copy(written, to);
    written.writeUInt32LE(dataEnd, to + 32);
    written.writeUInt32LE(nextEnd - dataEnd, to + 36);
    dataEnd = nextEnd;
    if (index % CHUNKS_PER_TURN === 0) await setImmediate();
  }
  written.writeUInt32LE(dataEnd, 40);
  written.writeUInt32LE(sizeBytes, 44);
  return written;
}

const refuse = (sentence: string): ServiceError => new ServiceError("invalid_request", sentence);
