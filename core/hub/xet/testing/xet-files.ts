import { createHash } from "node:crypto";
import { compressFrameSync } from "lz4-napi";
import { CHUNK_ENTRY_BYTES } from "../check-xorb.ts";
import { CHUNK_HEADER_BYTES } from "../chunk.ts";
import { HASH_BYTES, hashChunk, hashOfText, hashRange, hashText, MerkleTree } from "../hashes.ts";

export type TestXorb = { hash: string; bytes: Buffer; chunks: Buffer[] };

type Scheme = "none" | "lz4" | "bg4";
const schemes = { none: 0, lz4: 1, bg4: 2 } as const;

export function packedChunk(
  data: Buffer,
  scheme: Scheme = "none",
  { packed = pack(data, scheme), bytes = data.length } = {},
): Buffer {
  const header = Buffer.alloc(CHUNK_HEADER_BYTES);
  header.writeUIntLE(packed.length, 1, 3);
  header[4] = schemes[scheme];
  header.writeUIntLE(bytes, 5, 3);
  return Buffer.concat([header, packed]);
}

function pack(data: Buffer, scheme: Scheme): Buffer {
  if (scheme === "none") return data;
  return compressFrameSync(scheme === "lz4" ? data : group(data));
}

const group = (data: Buffer): Buffer =>
  Buffer.from([0, 1, 2, 3].flatMap((first) => [...data.filter((_, at) => at % 4 === first)]));

function treeOf(chunks: readonly Buffer[]): MerkleTree {
  const tree = new MerkleTree();
  for (const chunk of chunks) tree.add(hashChunk(chunk), chunk.length);
  return tree;
}

export async function someXorb(chunks: Buffer[], scheme: Scheme = "none"): Promise<TestXorb> {
  const hash = hashText(treeOf(chunks).xorbHash());
  return { hash, bytes: Buffer.concat(chunks.map((chunk) => packedChunk(chunk, scheme))), chunks };
}

export type TestTerm = { xorb: TestXorb; start?: number; end?: number; bytes?: number; xorbHash?: string; rangeHash?: Buffer };
export type TestFile = { terms: TestTerm[]; hash?: string; oid?: string; isWithoutSha256?: boolean; isWithoutRanges?: boolean };

const chunksOf = ({ xorb, start = 0, end = xorb.chunks.length }: TestTerm): Buffer[] => xorb.chunks.slice(start, end);
export const contentOf = ({ terms }: TestFile): Buffer => Buffer.concat(terms.flatMap(chunksOf));
export const oidOf = (file: TestFile): string => createHash("sha256").update(contentOf(file)).digest("hex");
export const fileHashOf = async ({ terms }: TestFile): Promise<string> => hashText(treeOf(terms.flatMap(chunksOf)).fileHash());

const ENTRY_BYTES = 48;
const numbers = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(ENTRY_BYTES - HASH_BYTES);
  for (const [at, value] of values.entries()) bytes.writeUInt32LE(value, at * 4);
  return bytes;
};
const end = Buffer.alloc(ENTRY_BYTES).fill(0xff, 0, HASH_BYTES);

export async function someShard(files: readonly TestFile[], xorbs: readonly TestXorb[] = []): Promise<Buffer> {
  const header = Buffer.concat([
    Buffer.from("48465265706f4d6574614461746100556967456a7b815783a5bdd95ccdd14aa9", "hex"),
    numbers(2),
  ]);
  const described = await Promise.all(files.map(fileEntries));
  return Buffer.concat([header, ...described.flat(), end, ...xorbs.flatMap(xorbEntries), end]);
}

async function fileEntries(file: TestFile): Promise<Buffer[]> {
  const { terms, hash = await fileHashOf(file), oid = oidOf(file), isWithoutSha256 = false, isWithoutRanges = false } = file;
  const flags = (isWithoutRanges ? 0 : 0x80000000) + (isWithoutSha256 ? 0 : 0x40000000);
  const entries = terms.map((term) => {
    const { xorb, xorbHash = xorb.hash, start = 0, end: last = xorb.chunks.length } = term;
    const { bytes = Buffer.concat(chunksOf(term)).length } = term;
    return Buffer.concat([hashOfText(xorbHash), numbers(0, bytes, start, last)]);
  });
  const ranges = terms.map((term) =>
    Buffer.concat([term.rangeHash ?? hashRange(Buffer.concat(chunksOf(term).map(hashChunk))), numbers()]),
  );
  return [
    Buffer.concat([hashOfText(hash), numbers(flags, terms.length)]),
    ...entries,
    ...(isWithoutRanges ? [] : ranges),
    ...(isWithoutSha256 ? [] : [Buffer.concat([hashOfText(oid), numbers()])]),
  ];
}

function xorbEntries({ hash, chunks, bytes }: TestXorb): Buffer[] {
  let at = 0;
  const entries = chunks.map((chunk) => {
    const entry = Buffer.concat([hashChunk(chunk), numbers(at, chunk.length)]);
    at += chunk.length;
    return entry;
  });
  return [Buffer.concat([hashOfText(hash), numbers(0, chunks.length, at, bytes.length)]), ...entries];
}

export function footerOf({ hash, chunks }: TestXorb): Buffer {
  const info = Buffer.concat([
    Buffer.from("XETBLOB\x01", "latin1"),
    hashOfText(hash),
    Buffer.alloc(chunks.length * CHUNK_ENTRY_BYTES),
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(info.length);
  return Buffer.concat([info, length]);
}
