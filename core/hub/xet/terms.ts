import { setImmediate } from "node:timers/promises";
import { db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import type { ByteRange } from "../../http/byte-range.ts";
import { lostContent } from "../lfs/storage/lfs-storage.ts";
import { CHUNK_ENTRY_BYTES } from "./check-xorb.ts";
import { HASH_BYTES, hashOfText, hashText } from "./hashes.ts";
import type { XorbPlace } from "./open-xorb.ts";

export const ENTRY_BYTES = 48;

/** The chunks of a xorb from `start` to before `end`. */
export type Term = { xorbHash: string; bytes: number; start: number; end: number };
export type PlacedTerm = Term & { at: number };
/** `packed` is the position in the xorb. */
type StoredTerm = PlacedTerm & { xorb: XorbPlace; packed: ByteRange };

/** Each buffer holds a whole number of entries. */
export type TermEntries = Iterable<Buffer> | AsyncIterable<Buffer>;

export function* sizesIn(entries: Buffer): Generator<{ bytes: number; chunks: number; end: number }, void, undefined> {
  for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
    const end = entries.readUInt32LE(at + 44);
    yield { bytes: bytesAt(entries, at), chunks: end - entries.readUInt32LE(at + 40), end };
  }
}

const bytesAt = (entries: Buffer, at: number): number => entries.readUInt32LE(at + 36);

const termAt = (entries: Buffer, at: number): Term => ({
  xorbHash: hashText(entries.subarray(at, at + HASH_BYTES)),
  bytes: bytesAt(entries, at),
  start: entries.readUInt32LE(at + 40),
  end: entries.readUInt32LE(at + 44),
});

export function termEntry({ xorbHash, bytes, start, end }: Term): Buffer {
  const entry = Buffer.alloc(ENTRY_BYTES);
  hashOfText(xorbHash).copy(entry);
  for (const [at, value] of [bytes, start, end].entries()) entry.writeUInt32LE(value, 36 + 4 * at);
  return entry;
}

const TERMS_PER_READ = 4_096;

export async function* storedTerms(repoId: string, hash: string): AsyncGenerator<Buffer, void, undefined> {
  const bytes = TERMS_PER_READ * ENTRY_BYTES;
  for (let from = 1; ; from += bytes) {
    const [row] = await db().$queryRaw<{ entries: Uint8Array }[]>`
      SELECT substring(terms FROM ${from}::int FOR ${bytes}::int) AS entries FROM xet_file WHERE repo_id = ${repoId} AND hash = ${hash}`;
    if (!row || row.entries.byteLength === 0) return;
    yield Buffer.from(row.entries.buffer, row.entries.byteOffset, row.entries.byteLength);
    if (row.entries.byteLength < bytes) return;
  }
}

const TERMS_PER_TURN = 256;

export async function* placeTerms(entries: TermEntries, range?: ByteRange): AsyncGenerator<PlacedTerm, void, undefined> {
  let [fileAt, placed] = [0, 0];
  for await (const some of entries) {
    for (let at = 0; at < some.length; at += ENTRY_BYTES) {
      const start = fileAt;
      fileAt += bytesAt(some, at);
      if (range && fileAt <= range.start) continue;
      if (range && start > range.end) return;
      yield { ...termAt(some, at), at: start };
      placed += 1;
      if (placed % TERMS_PER_TURN === 0) await setImmediate();
    }
  }
}

/** A term at either end of the range keeps only chunks that overlap the range. */
export async function* locateTerms(
  repoId: string,
  terms: Iterable<PlacedTerm> | AsyncIterable<PlacedTerm>,
  range?: ByteRange,
): AsyncGenerator<StoredTerm, void, undefined> {
  for await (const some of inBatches(terms)) {
    const cut = await Promise.all(some.map((term) => (range ? cutTerm(repoId, term, range) : term)));
    // `before` is the end of the preceding chunk, and `last` that of the term's last chunk.
    const rows = await db().$queryRaw<(XorbPlace & { number: number; before: Uint8Array; last: Uint8Array })[]>`
      SELECT t.number::int AS number, x.hash, x.location, x.has_headers AS "hasHeaders", x.starts_at::float8 AS "startsAt",
          substring(x.chunks FROM t.first * ${CHUNK_ENTRY_BYTES}::int - 7 FOR 4) AS before,
          substring(x.chunks FROM t.next * ${CHUNK_ENTRY_BYTES}::int - 7 FOR 4) AS last
        FROM ${unnested(cut)} JOIN xet_xorb x ON x.repo_id = ${repoId} AND x.hash = t.hash ORDER BY t.number`;
    if (rows.length < cut.length) throw lostContent();
    for (const { number, before, last, ...xorb } of rows) {
      const term = cut[number - 1] as PlacedTerm;
      if (last.byteLength < 4) throw lostContent();
      const packed = { start: term.start === 0 ? 0 : numberIn(before), end: numberIn(last) - 1 };
      yield { ...term, xorb, packed };
    }
  }
}

const numberIn = (bytes: Uint8Array, at = 0): number => bufferOf(bytes).readUInt32LE(at);
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength);

const unnested = (terms: readonly Term[]) => Prisma.sql`unnest(${terms.map(({ xorbHash }) => xorbHash)}::text[],
  ${terms.map(({ start }) => start)}::int[], ${terms.map(({ end }) => end)}::int[]) WITH ORDINALITY AS t(hash, first, next, number)`;

async function* inBatches(
  terms: Iterable<PlacedTerm> | AsyncIterable<PlacedTerm>,
): AsyncGenerator<PlacedTerm[], void, undefined> {
  let some: PlacedTerm[] = [];
  for await (const term of terms) {
    some.push(term);
    if (some.length < TERMS_PER_TURN) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

async function cutTerm(repoId: string, term: PlacedTerm, range: ByteRange): Promise<PlacedTerm> {
  const [from, to] = [range.start - term.at, range.end + 1 - term.at];
  if (from <= 0 && to >= term.bytes) return term;
  for await (const loaded of loadChunks(repoId, [term])) {
    let [first, last] = [0, loaded.count - 1];
    while (first < last && loaded.dataEnd(first) <= from) first++;
    while (last > first && loaded.dataEnd(last - 1) >= to) last--;
    const dataStart = loaded.dataEnd(first - 1);
    return {
      ...{ xorbHash: term.xorbHash, start: term.start + first, end: term.start + last + 1 },
      ...{ at: term.at + dataStart, bytes: loaded.dataEnd(last) - dataStart },
    };
  }
  throw lostContent();
}

export class LoadedTerm {
  readonly term: Term;
  /** How many of the term's chunks the xorb really has. */
  readonly count: number;
  readonly #entries: Buffer;
  /** 1 if the first entry is that of the preceding chunk. */
  readonly #before: 0 | 1;

  constructor(term: Term, entries: Uint8Array) {
    this.term = term;
    this.#entries = bufferOf(entries);
    this.#before = term.start > 0 ? 1 : 0;
    this.count = Math.min(this.#entries.length / CHUNK_ENTRY_BYTES - this.#before, term.end - term.start);
  }

  hashOf(index: number): Buffer {
    const at = (index + this.#before) * CHUNK_ENTRY_BYTES;
    return this.#entries.subarray(at, at + HASH_BYTES);
  }

  /** Where a chunk ends in the term's data. The index -1 gives the start of the first chunk. */
  dataEnd(index: number): number {
    return this.#dataEnd(index) - this.#dataEnd(-1);
  }

  bytesOf(index: number): number {
    return this.#dataEnd(index) - this.#dataEnd(index - 1);
  }

  #dataEnd(index: number): number {
    const entry = index + this.#before;
    return entry < 0 ? 0 : this.#entries.readUInt32LE(entry * CHUNK_ENTRY_BYTES + HASH_BYTES + 4);
  }
}

const CHUNKS_PER_QUERY = 8_192;
const TERMS_PER_QUERY = 64;

export async function* loadChunks(
  repoId: string,
  terms: Iterable<Term> | AsyncIterable<Term>,
): AsyncGenerator<LoadedTerm, void, undefined> {
  let some: Term[] = [];
  let chunks = 0;
  for await (const term of terms) {
    const count = term.end - term.start;
    if (some.length === TERMS_PER_QUERY || (some.length > 0 && chunks + count > CHUNKS_PER_QUERY)) {
      yield* queryChunks(repoId, some);
      [some, chunks] = [[], 0];
    }
    some.push(term);
    chunks += count;
  }
  yield* queryChunks(repoId, some);
}

async function* queryChunks(repoId: string, terms: readonly Term[]): AsyncGenerator<LoadedTerm, void, undefined> {
  if (terms.length === 0) return;
  const rows = await db().$queryRaw<{ number: number; entries: Uint8Array }[]>`
    SELECT t.number::int AS number, substring(x.chunks FROM greatest(t.first - 1, 0) * ${CHUNK_ENTRY_BYTES}::int + 1
          FOR (t.next - greatest(t.first - 1, 0)) * ${CHUNK_ENTRY_BYTES}::int) AS entries
      FROM ${unnested(terms)} JOIN xet_xorb x ON x.repo_id = ${repoId} AND x.hash = t.hash ORDER BY t.number`;
  if (rows.length < terms.length) throw lostContent();
  for (const { number, entries } of rows) yield new LoadedTerm(terms[number - 1] as Term, entries);
}
