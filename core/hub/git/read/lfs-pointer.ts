import type { GitObjects } from "./git-objects.ts";
import type { TreeEntry } from "./tree-entries.ts";

/** What a file kept by Git LFS is in git: a few lines that name its content (git-lfs docs/spec.md). */
export type LfsPointer = {
  /** SHA-256 of the content. */
  oid: string;
  /** Of the content, in bytes. */
  size: number;
  /** Of the pointer itself, in bytes. */
  pointerSize: number;
};

/** A pointer is smaller than this, by its specification. */
export const LFS_POINTER_MAX_BYTES = 1024;
const POINTER_MIN_BYTES = 100;
const VERSION = "version https://git-lfs.github.com/spec/v1\n";
const OID = /^oid sha256:([0-9a-f]{64})$/m;
const SIZE = /^size (\d{1,15})$/m;

/** Reads a file's bytes as a pointer; undefined when they are something else. */
export function parseLfsPointer(bytes: Buffer): LfsPointer | undefined {
  if (bytes.length > LFS_POINTER_MAX_BYTES) return undefined;
  const text = bytes.toString("latin1");
  if (!text.startsWith(VERSION)) return undefined;
  const [oid, size] = [OID.exec(text)?.[1], SIZE.exec(text)?.[1]];
  return oid && size ? { oid, size: Number(size), pointerSize: bytes.length } : undefined;
}

/** The pointer that a file of this size may be; undefined when it is none. */
export async function readLfsPointer(
  objects: GitObjects,
  { type, oid }: Pick<TreeEntry, "type" | "oid">,
  size: number,
): Promise<LfsPointer | undefined> {
  if (type !== "file" || size < POINTER_MIN_BYTES || size >= LFS_POINTER_MAX_BYTES) return undefined;
  const object = await objects.read(oid, LFS_POINTER_MAX_BYTES);
  return object && parseLfsPointer(object.bytes);
}
