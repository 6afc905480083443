import type { LfsObjectId } from "../../lfs/lfs-object.ts";
import { LFS_POINTER_MAX_BYTES, parseLfsPointer } from "../../lfs/parse-lfs-pointer.ts";
import type { GitObjects } from "./git-objects.ts";
import type { TreeEntry } from "./tree-entries.ts";

/** A file in Git LFS: its object, and the size of its pointer in git, in bytes. */
export type LfsPointer = LfsObjectId & { pointerSize: number };

/** `version`, `oid` and `size` alone are longer. */
const POINTER_MIN_BYTES = 100;

/** The pointer in a file of this size; undefined when the file is not a pointer. */
export async function readLfsPointer(
  objects: GitObjects,
  { type, oid }: Pick<TreeEntry, "type" | "oid">,
  size: number,
): Promise<LfsPointer | undefined> {
  if (type !== "file" || size < POINTER_MIN_BYTES || size > LFS_POINTER_MAX_BYTES) return undefined;
  const object = await objects.read(oid, LFS_POINTER_MAX_BYTES);
  const pointer = object && parseLfsPointer(object.bytes);
  return pointer && { ...pointer, pointerSize: size };
}
