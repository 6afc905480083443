import { decompressFrameSync } from "lz4-napi";
import { ServiceError } from "../../errors.ts";

/** A frame may have two blocks with a whole chunk each. */
const UNPACKED_MAX_BYTES = 512 * 1024;
const BLOCK_MAX_BYTES = [64 * 1024, 256 * 1024, 1024 * 1024, 4 * 1024 * 1024];
/** One byte of LZ4 data becomes at most 255 bytes. */
const RATIO_MAX = 255;
const MAGIC = 0x184d2204;

/**
 * See LZ4 Frame Format 1.6. Lowers the block size in the header, because the decoder allocates it. Counts the blocks before
 * decompressing them, because 256 KiB could become 64 MB (S145).
 * @param frame is changed
 */
export function unpackFrame(frame: Buffer, bytes: number): Buffer {
  if (frame.length < 11 || frame.readUInt32LE(0) !== MAGIC) throw malformed();
  const [flags, descriptor] = [frame[4] as number, frame[5] as number];
  const [hasBlockChecksum, hasSize, hasChecksum, hasDictionary] = [16, 8, 4, 1].map((bit) => (flags & bit) !== 0);
  const level = (descriptor >> 4) - 4;
  const blocksAt = hasSize ? 15 : 7;
  const isKnown = flags >> 6 === 1 && BLOCK_MAX_BYTES[level] !== undefined && !hasDictionary;
  if (!isKnown || frame.length < blocksAt || frame[blocksAt - 1] !== checksumOf(frame.subarray(4, blocksAt - 1)))
    throw malformed();
  const lowered = Math.min(level, bytes <= (BLOCK_MAX_BYTES[0] as number) ? 0 : 1);
  const end = endOfBlocks(frame, blocksAt, {
    blockMax: BLOCK_MAX_BYTES[lowered] as number,
    checksumBytes: hasBlockChecksum ? 4 : 0,
  });
  if (end + (hasChecksum ? 4 : 0) !== frame.length) throw malformed();
  frame[5] = (descriptor & 0x0f) | ((lowered + 4) << 4);
  frame[blocksAt - 1] = checksumOf(frame.subarray(4, blocksAt - 1));
  try {
    return decompressFrameSync(frame);
  } catch (cause) {
    throw refuse("A chunk cannot be decompressed.", cause);
  }
}

function endOfBlocks(
  frame: Buffer,
  from: number,
  { blockMax, checksumBytes }: Record<"blockMax" | "checksumBytes", number>,
): number {
  let total = 0;
  for (let at = from; at + 4 <= frame.length; ) {
    const word = frame.readUInt32LE(at);
    at += 4;
    if (word === 0) return at;
    const length = word & 0x7fffffff;
    total += Math.min(blockMax, word === length ? length * RATIO_MAX : length);
    if (total > UNPACKED_MAX_BYTES) throw refuse("A chunk is too large when decompressed.");
    at += length + checksumBytes;
  }
  throw malformed();
}

const [P1, P2, P3, P4, P5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1] as const;
const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

/** The second byte of the XXH32 of fewer than 16 bytes. */
function checksumOf(bytes: Buffer): number {
  let hash = P5 + bytes.length;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) hash = Math.imul(rotate(hash + Math.imul(bytes.readUInt32LE(at), P3), 17), P4);
  for (; at < bytes.length; at++) hash = Math.imul(rotate(hash + Math.imul(bytes[at] as number, P5), 11), P1);
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return ((hash ^ (hash >>> 16)) >>> 8) & 0xff;
}

const malformed = (): ServiceError => refuse("A chunk is not one LZ4 frame.");
const refuse = (sentence: string, cause?: unknown): ServiceError => new ServiceError("invalid_request", sentence, { cause });
