import type { CommitSummary } from "./commit.ts";
import type { GitObjects } from "./git-objects.ts";
import { type LfsPointer, readLfsPointer } from "./lfs-pointer.ts";
import type { EntryType, TreeEntry } from "./tree-entries.ts";

/** A file or a folder of a commit. */
export type Entry = {
  type: EntryType;
  path: string;
  name: string;
  oid: string;
  mode: string;
  /** In bytes; for a file in Git LFS the size of the file, not of its pointer. 0 for folders and submodules. */
  size: number;
  lfs?: LfsPointer;
  /** The latest commit that changed it, if it was requested and could be found in bounded time. */
  lastCommit?: CommitSummary;
};

/** An entry of a tree with its size, and with the content of its LFS pointer. */
export async function describeEntry(objects: GitObjects, entry: TreeEntry, path: string): Promise<Entry> {
  const { type, name, oid, mode } = entry;
  const described = { type, path, name, oid, mode };
  // The commit of a submodule is in another repository.
  if (type === "directory" || type === "submodule") return { ...described, size: 0 };
  const size = (await objects.info(oid))?.size ?? 0;
  const lfs = await readLfsPointer(objects, entry, size);
  return { ...described, size: lfs?.size ?? size, ...(lfs && { lfs }) };
}
