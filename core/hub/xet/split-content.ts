import { Hasher } from "gearhash-jit";
import { CHUNK_MAX_BYTES } from "./chunk.ts";
import { HASH_BYTES } from "./hashes.ts";

const BOUNDARY = 0xffff_0000_0000_0000n;
const MIN_BYTES = 8 * 1024;
/** The rolling hash depends on this many bytes. */
const WINDOW_BYTES = 64;
const UNHASHED_BYTES = MIN_BYTES - WINDOW_BYTES - 1;

export const FOUND_BYTES = HASH_BYTES + 4;

/** Xet Protocol Specification 1.1, "Content-Defined Chunking". */
export class ContentSplitter {
  readonly #gear = new Hasher(BOUNDARY);
  readonly #chunk = Buffer.allocUnsafeSlow(CHUNK_MAX_BYTES);
  #length = 0;

  /** @returns chunks, each valid until the next one is requested */
  *push(piece: Buffer): Generator<Buffer, void, undefined> {
    for (let at = 0; at < piece.length; ) {
      const most = Math.min(piece.length, at + CHUNK_MAX_BYTES - this.#length);
      const from = Math.min(most, at + Math.max(0, UNHASHED_BYTES - this.#length));
      const found = from < most ? this.#gear.nextMatch(piece.subarray(from, most)) : -1;
      const to = found === -1 ? most : from + found;
      this.#length += piece.copy(this.#chunk, this.#length, at, to);
      at = to;
      // With fewer bytes than the window, the hash is zero far more often, so such a match does not count.
      if ((found !== -1 && this.#length >= MIN_BYTES) || this.#length === CHUNK_MAX_BYTES) yield this.#take();
    }
  }

  end(): Buffer | undefined {
    return this.#length > 0 ? this.#take() : undefined;
  }

  #take(): Buffer {
    const chunk = this.#chunk.subarray(0, this.#length);
    this.#length = 0;
    this.#gear.resetHash();
    return chunk;
  }
}
