import { PATH_MAX_BYTES } from "./tree-entries.ts";

export const TEXT_MAX_BYTES = 2 * PATH_MAX_BYTES;

/** A pushed line may have many megabytes, so each chunk is searched once, and long texts are cut (S137). */
export class OutputSplitter {
  separator = 0;
  #parts: Buffer[] = [];
  #size = 0;

  *split(chunk: Buffer): Generator<string> {
    let from = 0;
    for (let end = chunk.indexOf(this.separator); end >= 0; end = chunk.indexOf(this.separator, from)) {
      this.#keep(chunk.subarray(from, end));
      const [first] = this.#parts;
      const text = (this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts)).toString("utf8");
      this.#parts = [];
      this.#size = 0;
      from = end + 1;
      yield text;
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(part: Buffer): void {
    const kept = part.subarray(0, TEXT_MAX_BYTES - this.#size);
    if (kept.length > 0) this.#parts.push(kept);
    this.#size += kept.length;
  }
}
