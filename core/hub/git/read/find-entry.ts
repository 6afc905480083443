import { notFound, ServiceError } from "../../../errors.ts";
import { type GitObjects, ObjectTooLarge } from "./git-objects.ts";
import { parseTree, type TreeEntry } from "./tree-entries.ts";
import { isTreePath } from "./tree-path.ts";

/** About 100,000 entries in one folder: they are in memory while it is read. */
const TREE_MAX_BYTES = 4 * 1024 * 1024;

/** The entries of the root of a commit, or of a tree by its id. @throws ServiceError `invalid_request` for more than can be listed */
export async function readTree(objects: GitObjects, treeish: string): Promise<TreeEntry[]> {
  try {
    const tree = await objects.read(`${treeish}^{tree}`, TREE_MAX_BYTES);
    return tree ? parseTree(tree.bytes) : [];
  } catch (error) {
    if (!(error instanceof ObjectTooLarge)) throw error;
    throw new ServiceError("invalid_request", "This folder has too many entries to be listed.", { cause: error });
  }
}

/** Entries of the folders that are kept while many paths are looked for. */
const KEPT_ENTRIES_MAX = 150_000;

/** Reads each folder once for many paths that lie in it, as long as there is room for what it has (S138). */
export function rememberTrees(): typeof readTree {
  const known = new Map<string, TreeEntry[]>();
  let kept = 0;
  return async (objects, treeish) => {
    const found = known.get(treeish) ?? (await readTree(objects, treeish));
    if (!known.has(treeish)) kept += found.length;
    known.delete(treeish);
    known.set(treeish, found);
    for (const [oldest, { length }] of known) {
      if (kept <= KEPT_ENTRIES_MAX) break;
      known.delete(oldest);
      kept -= length;
    }
    return found;
  };
}

/**
 * What is at a path in a commit: its folders are walked down one by one, so that `..`, a leading slash or a backslash are names like
 * any other and lead nowhere (S137). Names that are not UTF-8 are found as they are shown.
 * @param path without a slash at either end; empty for the root, which is "root"
 * @param read `rememberTrees()` for one of many paths
 */
export async function findEntry(
  objects: GitObjects,
  commit: string,
  path: string,
  read = readTree,
): Promise<TreeEntry | "root" | undefined> {
  if (path === "") return "root";
  if (!isTreePath(path)) return undefined;
  const names = path.split("/");
  let treeish = commit;
  for (const [depth, name] of names.entries()) {
    const entry = namedIn(await read(objects, treeish), name);
    if (!entry || depth === names.length - 1) return entry;
    if (entry.type !== "directory") return undefined;
    treeish = entry.oid;
  }
  return undefined;
}

/** @throws ServiceError `not_found` (EntryNotFound) */
export async function requireEntry(objects: GitObjects, commit: string | null, path: string): Promise<TreeEntry | "root"> {
  const entry = commit === null ? (path === "" ? "root" : undefined) : await findEntry(objects, commit, path);
  if (!entry) throw notFound("Entry");
  return entry;
}

function namedIn(entries: readonly TreeEntry[], name: string): TreeEntry | undefined {
  const bytes = Buffer.from(name);
  return entries.find((entry) => entry.bytes.equals(bytes)) ?? entries.find((entry) => entry.name === name);
}
