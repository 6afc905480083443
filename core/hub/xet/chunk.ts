import { ServiceError } from "../../errors.ts";
import { unpackFrame } from "./lz4-frame.ts";

/** Xet Protocol Specification 1.1, "Chunk Format". */
type ChunkHeader = { packedBytes: number; scheme: number; bytes: number };

export const CHUNK_HEADER_BYTES = 8;
export const CHUNK_MAX_BYTES = 128 * 1024;
/** Some clients send compressed data that is larger than the chunk. */
const PACKED_MAX_BYTES = 2 * CHUNK_MAX_BYTES;

/** Only the last chunk of a file is smaller. The JavaScript client also ends a chunk wherever one of its pieces ends. */
export const CHUNK_MIN_BYTES = 8 * 1024;
export const [RUN_CHUNKS, SMALL_CHUNKS_MAX] = [1_000, 16];
/** Each chunk's fixed cost, in bytes that take as long to check. */
export const CHUNK_COST_BYTES = 16 * 1024;

const [NONE, LZ4, GROUPED_LZ4] = [0, 1, 2];

export function readChunkHeader(bytes: Buffer, at: number): ChunkHeader {
  const [version, scheme] = [bytes[at], bytes[at + 4] as number];
  const [packedBytes, length] = [bytes.readUIntLE(at + 1, 3), bytes.readUIntLE(at + 5, 3)];
  if (version !== 0) throw refuse("A chunk has an unknown version.");
  if (![NONE, LZ4, GROUPED_LZ4].includes(scheme)) throw refuse("A chunk is compressed with an unknown method.");
  if (length === 0 || length > CHUNK_MAX_BYTES)
    throw refuse(`A chunk must have 1 to ${CHUNK_MAX_BYTES.toLocaleString("en")} bytes.`);
  if (packedBytes === 0 || packedBytes > PACKED_MAX_BYTES) throw refuse("A chunk's compressed size is out of range.");
  if (scheme === NONE && packedBytes !== length) throw refuse("A chunk that is not compressed has two different sizes.");
  return { packedBytes, scheme, bytes: length };
}

export function headerOfPlainChunk(bytes: number): Buffer {
  const header = Buffer.alloc(CHUNK_HEADER_BYTES);
  header.writeUIntLE(bytes, 1, 3);
  header[4] = NONE;
  header.writeUIntLE(bytes, 5, 3);
  return header;
}

export function unpackChunk({ scheme, bytes }: ChunkHeader, packed: Buffer): Buffer {
  if (scheme === NONE) return packed;
  const data = unpackFrame(packed, bytes);
  if (data.byteLength !== bytes) throw refuse("A chunk's size does not match its header.");
  return scheme === GROUPED_LZ4 ? ungroup(data) : data;
}

/** Grouped data has the first bytes of all groups of four, then the second bytes, and so on. */
function ungroup(grouped: Buffer): Buffer {
  const data = Buffer.allocUnsafe(grouped.length);
  let from = 0;
  for (let first = 0; first < 4; first++) {
    for (let to = first; to < data.length; to += 4) data[to] = grouped[from++] as number;
  }
  return data;
}

type Chunk = { header: ChunkHeader; packed: Buffer };

/** Uses one buffer, because joining small pieces would take longer than all hashes (S145). */
export class ChunkSplitter {
  readonly #buffer = Buffer.allocUnsafeSlow(2 * (CHUNK_HEADER_BYTES + PACKED_MAX_BYTES));
  #length = 0;

  get rest(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Yields chunks, each valid until the next request. `isEnd` tells whether a byte begins the xorb's footer. */
  *push(piece: Buffer, isEnd: (first: number) => boolean = () => false): Generator<Chunk, void, undefined> {
    for (let at = 0; at < piece.length; ) {
      const whole = this.#length === 0 ? firstChunk(piece.subarray(at), isEnd) : undefined;
      if (whole?.header.scheme === NONE) {
        at += CHUNK_HEADER_BYTES + whole.packed.length;
        yield whole;
        continue;
      }
      const taken = piece.copy(this.#buffer, this.#length, at, at + Math.min(this.#missing(isEnd), piece.length - at));
      if (taken === 0) throw refuse("A chunk is too large.");
      at += taken;
      this.#length += taken;
      const chunk = firstChunk(this.rest, isEnd);
      if (!chunk) continue;
      this.#length = 0;
      yield chunk;
    }
  }

  #missing(isEnd: (first: number) => boolean): number {
    if (this.#length < CHUNK_HEADER_BYTES) return CHUNK_HEADER_BYTES - this.#length;
    if (isEnd(this.#buffer[0] as number)) return this.#buffer.length;
    return CHUNK_HEADER_BYTES + readChunkHeader(this.#buffer, 0).packedBytes - this.#length;
  }
}

function firstChunk(bytes: Buffer, isEnd: (first: number) => boolean): Chunk | undefined {
  if (bytes.length < CHUNK_HEADER_BYTES || isEnd(bytes[0] as number)) return undefined;
  const header = readChunkHeader(bytes, 0);
  const end = CHUNK_HEADER_BYTES + header.packedBytes;
  return bytes.length < end ? undefined : { header, packed: bytes.subarray(CHUNK_HEADER_BYTES, end) };
}

const refuse = (sentence: string): ServiceError => new ServiceError("invalid_request", sentence);
