import { notFound } from "../../../errors.ts";
import type { GitObjects } from "./git-objects.ts";
import { findNamed, type TreeEntry } from "./tree-entries.ts";
import { isTreePath } from "./tree-path.ts";

/**
 * What is at a path in a commit. It walks down the folders one by one, so that `..`, a leading slash or a backslash are ordinary names
 * and lead nowhere (S137). Names that are not UTF-8 are found as they are shown.
 * @param path without a slash at either end; empty for the root, which is "root"
 * @throws TooMuchToRead
 */
export async function findEntry(objects: GitObjects, commit: string, path: string): Promise<TreeEntry | "root" | undefined> {
  if (path === "") return "root";
  if (!isTreePath(path)) return undefined;
  const names = path.split("/");
  let treeish = commit;
  for (const [depth, name] of names.entries()) {
    const tree = await objects.tree(treeish);
    const entry = tree && findNamed(tree, name);
    if (!entry || depth === names.length - 1) return entry;
    if (entry.type !== "directory") return undefined;
    treeish = entry.oid;
  }
  return undefined;
}

/** @throws ServiceError `not_found` (EntryNotFound); TooMuchToRead */
export async function requireEntry(objects: GitObjects, commit: string | null, path: string): Promise<TreeEntry | "root"> {
  const entry = commit === null ? (path === "" ? "root" : undefined) : await findEntry(objects, commit, path);
  if (!entry) throw notFound("Entry");
  return entry;
}
