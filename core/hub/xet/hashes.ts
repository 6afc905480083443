import { Blake3Hasher } from "@napi-rs/blake-hash";

/** Xet Protocol Specification 1.1, "Hashing". As text, a hash is hexadecimal, with each 8 bytes in reverse order. */
export const HASH_BYTES = 32;

const DATA_KEY = Buffer.from("6697f5775b9550de3135cbaca597181c9de421109beb2b58b4d0b04b93adf229", "hex");
const NODE_KEY = Buffer.from("017ec5c7a5472996fd946666b48a02e65ddd536f37c76dd2f86352e64a53713f", "hex");
const RANGE_KEY = Buffer.from("7f1857d6ce56ed66127ff913e7a5c3f3a4cd26d5b5db49e64124987f28fb94c3", "hex");
const NO_KEY = Buffer.alloc(HASH_BYTES);

/** The hasher is kept, because creating one takes as long as hashing ten kilobytes. */
export function keyedHash(key: Buffer): (bytes: Uint8Array) => Buffer {
  const hasher = Blake3Hasher.newKeyed(key);
  return (bytes) => {
    hasher.reset();
    hasher.update(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return Buffer.from(hasher.digest("hex"), "hex");
  };
}

export const hashChunk = keyedHash(DATA_KEY);
const hashNode = keyedHash(NODE_KEY);
const hashRoot = keyedHash(NO_KEY);

/** Hashes the concatenated hashes of chunks. This proves that a file's uploader knows each hash. */
export const hashRange = keyedHash(RANGE_KEY);

export const hashText = (hash: Uint8Array): string => Buffer.from(hash).swap64().toString("hex");

export const isHashText = (text: unknown): text is string => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);

export const hashOfText = (text: string): Buffer => Buffer.from(text, "hex").swap64();

export const isSampled = (hash: Uint8Array): boolean => hash[24] === 0 && ((hash[25] as number) & 3) === 0;

type Node = { hash: Uint8Array; length: number };

const [CHILDREN_MIN, CHILDREN_MAX] = [3, 9];

/** Keeps only the last group of each level, so that a large file takes no more memory (S145). */
export class MerkleTree {
  readonly #levels: { group: Node[]; hasParents: boolean }[] = [];

  add(hash: Uint8Array, length: number): void {
    this.#add(0, { hash, length });
  }

  /** Nothing may be added after this call. */
  xorbHash(): Buffer {
    for (let at = 0; at < this.#levels.length; at++) {
      const { group, hasParents } = this.#levels[at] as { group: Node[]; hasParents: boolean };
      const [only] = group;
      if (!hasParents && only && group.length === 1) return Buffer.from(only.hash);
      if (group.length > 0) this.#merge(at);
    }
    return Buffer.alloc(HASH_BYTES);
  }

  /** Nothing may be added after this call. */
  fileHash(): Buffer {
    const root = this.xorbHash();
    return this.#levels.length === 0 ? root : hashRoot(root);
  }

  #add(at: number, node: Node): void {
    this.#levels[at] ??= { group: [], hasParents: false };
    const { group } = this.#levels[at];
    group.push(node);
    const isEnd = group.length >= CHILDREN_MIN && ((node.hash[24] as number) & 3) === 0;
    if (isEnd || group.length === CHILDREN_MAX) this.#merge(at);
  }

  #merge(at: number): void {
    const level = this.#levels[at] as { group: Node[]; hasParents: boolean };
    const text = level.group.map(({ hash, length }) => `${hashText(hash)} : ${length}\n`).join("");
    const length = level.group.reduce((sum, node) => sum + node.length, 0);
    Object.assign(level, { group: [], hasParents: true });
    this.#add(at + 1, { hash: hashNode(Buffer.from(text, "latin1")), length });
  }
}
