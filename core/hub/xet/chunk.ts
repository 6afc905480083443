import { ServiceError } from "../../errors.ts";
import { unpackFrame } from "./lz4-frame.ts";

/** A chunk as a xorb contains it (Xet Protocol Specification 1.1, "Chunk Format"): a header, then its data, mostly compressed. */
type ChunkHeader = { packedBytes: number; scheme: number; bytes: number };

export const CHUNK_HEADER_BYTES = 8;
export const CHUNK_MAX_BYTES = 128 * 1024;
/** Careful clients store data uncompressed if it would not become smaller; others may send it larger than the chunk. */
const PACKED_MAX_BYTES = 2 * CHUNK_MAX_BYTES;

/**
 * The minimum average size of each thousand chunks of a file. A few small ones are not counted: the last chunk of a file may be small, and
 * the JavaScript client has a small chunk wherever its own pieces of a file end. Smaller chunks would cost more to check and to read than
 * their bytes justify.
 */
export const CHUNK_MIN_BYTES = 8 * 1024;
export const [RUN_CHUNKS, SMALL_CHUNKS_MAX] = [1_000, 16];
/** The cost of a chunk besides its bytes, in bytes that take as long to check. */
export const CHUNK_COST_BYTES = 16 * 1024;

const [NONE, LZ4, GROUPED_LZ4] = [0, 1, 2];

/** @throws ServiceError `invalid_request` */
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

/** The header of a chunk that is not compressed. */
export function headerOfPlainChunk(bytes: number): Buffer {
  const header = Buffer.alloc(CHUNK_HEADER_BYTES);
  header.writeUIntLE(bytes, 1, 3);
  header[4] = NONE;
  header.writeUIntLE(bytes, 5, 3);
  return header;
}

/**
 * The data of a chunk.
 * @param packed may be changed
 * @throws ServiceError `invalid_request` for data that cannot be decompressed, or whose size differs from its header
 */
export function unpackChunk({ scheme, bytes }: ChunkHeader, packed: Buffer): Buffer {
  if (scheme === NONE) return packed;
  const data = unpackFrame(packed, bytes);
  if (data.byteLength !== bytes) throw refuse("A chunk's size does not match its header.");
  return scheme === GROUPED_LZ4 ? ungroup(data) : data;
}

/** Undoes the grouping by which the first bytes of all groups of four came first, then the second ones, and so on. */
function ungroup(grouped: Buffer): Buffer {
  const data = Buffer.allocUnsafe(grouped.length);
  let from = 0;
  for (let first = 0; first < 4; first++) {
    for (let to = first; to < data.length; to += 4) data[to] = grouped[from++] as number;
  }
  return data;
}

type Chunk = { header: ChunkHeader; packed: Buffer };

/**
 * Cuts a stream into chunks. An uncompressed chunk that has arrived whole is a part of its piece. All others are assembled in one buffer,
 * which is reused. So pieces are never joined, however small they are (S145), the caller's bytes are not changed, and nothing is left to
 * the garbage collector, which would take longer than all hashes.
 */
export class ChunkSplitter {
  readonly #buffer = Buffer.allocUnsafeSlow(2 * (CHUNK_HEADER_BYTES + PACKED_MAX_BYTES));
  #length = 0;

  /** Bytes that are not a whole chunk yet. */
  get rest(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /**
   * @param isEnd whether no chunk begins with this byte; the bytes from there on are the rest
   * @returns chunks, each of which is valid until the next one is requested
   * @throws ServiceError `invalid_request`, also for a rest that is larger than a chunk
   */
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

  /** How many bytes are missing from the header or, if that is complete, from the chunk. */
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
