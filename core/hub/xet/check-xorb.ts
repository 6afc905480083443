import { ServiceError } from "../../errors.ts";
import { CHUNK_COST_BYTES, CHUNK_HEADER_BYTES, ChunkSplitter, unpackChunk } from "./chunk.ts";
import { HASH_BYTES, hashChunk, hashText, MerkleTree } from "./hashes.ts";

/** The limit of the public hub's clients. */
export const XORB_CHUNKS_MAX = 8192;

/** An entry has a chunk's hash, and the chunk's end in the xorb and in the xorb's data. */
export const CHUNK_ENTRY_BYTES = HASH_BYTES + 8;

const FOOTER_MAX_BYTES = 1024 + XORB_CHUNKS_MAX * CHUNK_ENTRY_BYTES;
/** The hub's clients put 64 MiB of data into a xorb. The headers of the chunks come in addition. */
export const XORB_MAX_BYTES = 64 * 1024 * 1024 + XORB_CHUNKS_MAX * CHUNK_HEADER_BYTES + FOOTER_MAX_BYTES;
const FOOTER_START = Buffer.from("XETBLOB");
const isFooter = (first: number): boolean => first === FOOTER_START[0];

export class XorbCheck {
  readonly #hash: string;
  readonly #splitter = new ChunkSplitter();
  readonly #tree = new MerkleTree();
  readonly #entries: Buffer[] = [];
  #packedEnd = 0;
  #dataEnd = 0;

  constructor(hash: string) {
    this.#hash = hash;
  }

  *push(piece: Buffer): Generator<number, void, undefined> {
    for (const { header, packed } of this.#splitter.push(piece, isFooter)) {
      if (this.#entries.length === XORB_CHUNKS_MAX)
        throw refuse(`A xorb can have at most ${XORB_CHUNKS_MAX.toLocaleString("en")} chunks.`);
      const hash = hashChunk(unpackChunk(header, packed));
      this.#tree.add(hash, header.bytes);
      this.#packedEnd += CHUNK_HEADER_BYTES + header.packedBytes;
      this.#dataEnd += header.bytes;
      this.#entries.push(entryOf(hash, this.#packedEnd, this.#dataEnd));
      yield header.bytes + CHUNK_COST_BYTES;
    }
    if (this.#splitter.rest.length > FOOTER_MAX_BYTES) throw refuse("The xorb's footer is too large.");
  }

  end(): Buffer {
    const { rest } = this.#splitter;
    if (rest.length > 0) requireFooter(rest, this.#hash);
    if (this.#entries.length === 0) throw refuse("The xorb has no chunks.");
    if (hashText(this.#tree.xorbHash()) !== this.#hash) throw refuse("The xorb does not match its hash. Upload it again.");
    return Buffer.concat(this.#entries);
  }
}

export function entryOf(hash: Buffer, packedEnd: number, dataEnd: number): Buffer {
  const entry = Buffer.allocUnsafe(CHUNK_ENTRY_BYTES);
  hash.copy(entry);
  entry.writeUInt32LE(packedEnd, HASH_BYTES);
  entry.writeUInt32LE(dataEnd, HASH_BYTES + 4);
  return entry;
}

function requireFooter(footer: Buffer, hash: string): void {
  const isComplete = footer.length > 48 && footer.subarray(0, FOOTER_START.length).equals(FOOTER_START);
  if (!isComplete) throw refuse("The xorb ends in the middle of a chunk.");
  const isWhole = footer.readUInt32LE(footer.length - 4) === footer.length - 4;
  if (!isWhole || hashText(footer.subarray(8, 8 + HASH_BYTES)) !== hash)
    throw refuse("The xorb's footer does not match its content.");
}

const refuse = (sentence: string): ServiceError => new ServiceError("invalid_request", sentence);
