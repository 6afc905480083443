import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { splitContent } from "./chunk-threads.ts";
import { hashChunk } from "./hashes.ts";
import { ContentSplitter, FOUND_BYTES } from "./split-content.ts";

/** The reference implementation's random bytes for tests: SplitMix64, from zero on. */
function referenceBytes(count: number): Buffer {
  const bytes = Buffer.alloc(count);
  const wrap = (value: bigint) => BigInt.asUintN(64, value);
  for (let at = 0, state = 0n; at < count; at += 8) {
    state = wrap(state + 0x9e3779b97f4a7c15n);
    const one = wrap((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
    const two = wrap((one ^ (one >> 27n)) * 0x94d049bb133111ebn);
    bytes.writeBigUInt64LE(two ^ (two >> 31n), at);
  }
  return bytes;
}

/** Where the reference implementation splits these bytes (xet-core, `test_correctness_1mb_random_data`). */
const BOUNDARIES = [
  ...[84493, 134421, 144853, 243318, 271793, 336457, 467529, 494581, 582000, 596735, 616815, 653164, 678202],
  ...[724510, 815591, 827760, 958832, 991092, 1000000],
];

function split(content: Buffer, pieceBytes: number): Buffer[] {
  const [splitter, chunks] = [new ContentSplitter(), [] as Buffer[]];
  for (let at = 0; at < content.length; at += pieceBytes) {
    for (const chunk of splitter.push(content.subarray(at, at + pieceBytes))) chunks.push(Buffer.from(chunk));
  }
  const last = splitter.end();
  return last ? [...chunks, Buffer.from(last)] : chunks;
}

const endsOf = (chunks: readonly Buffer[]): number[] => {
  let end = 0;
  return chunks.map(({ length }) => (end += length));
};

test.each([1_000_000, 8_127, 1_000, 37])("content in pieces of %d bytes is split where clients split it", (pieceBytes) => {
  const chunks = split(referenceBytes(1_000_000), pieceBytes);
  expect(endsOf(chunks)).toEqual(BOUNDARIES);
  expect(Buffer.concat(chunks).equals(referenceBytes(1_000_000))).toBe(true);
});

test("every chunk but the last has at least 8 KiB", () => {
  const chunks = split(Buffer.concat([Buffer.alloc(8_127), Buffer.from([17, 23, 42]), randomBytes(3_000_000)]), 524_288);
  expect(chunks.slice(0, -1).filter(({ length }) => length < 8_192)).toEqual([]);
});

test("equal bytes are split into chunks of the largest size", () => {
  expect(endsOf(split(Buffer.alloc(300_000, "x"), 50_000))).toEqual([131_072, 262_144, 300_000]);
  expect(split(Buffer.alloc(0), 1)).toEqual([]);
});

test("a thread splits content that arrives in pieces of any size", async () => {
  const content = randomBytes(3_000_000);
  async function* pieces() {
    for (let at = 0; at < content.length; at += 70_001) yield content.subarray(at, at + 70_001);
  }
  const found: Uint8Array[] = [];
  for await (const some of splitContent(pieces())) found.push(some);
  const wanted = split(content, content.length).map((chunk) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(chunk.length);
    return Buffer.concat([hashChunk(chunk), length]);
  });
  expect(wanted.every(({ length }) => length === FOUND_BYTES)).toBe(true);
  const hash = (parts: readonly Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest("hex");
  expect(hash(found)).toBe(hash(wanted));
});
