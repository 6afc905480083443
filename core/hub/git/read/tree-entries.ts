import { notFound } from "../../../errors.ts";
import type { LfsObjectId } from "../../lfs/lfs-object.ts";
import { LFS_POINTER_MAX_BYTES, parseLfsPointer } from "../../lfs/parse-lfs-pointer.ts";
import type { CommitSummary } from "./commit.ts";
import type { GitObjects } from "./git-objects.ts";

/** Walks name by name, so that `..` and a leading slash find nothing (S137). `path` has no slash at either end. */
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

export async function requireEntry(objects: GitObjects, commit: string | null, path: string): Promise<TreeEntry | "root"> {
  const entry = commit === null ? (path === "" ? "root" : undefined) : await findEntry(objects, commit, path);
  if (!entry) throw notFound("Entry");
  return entry;
}

export type EntryType = "file" | "directory" | "symlink" | "submodule";

export type TreeEntry = {
  mode: string;
  type: EntryType;
  /** Replacement characters stand for bytes that are not UTF-8. */
  name: string;
  bytes: Buffer;
  oid: string;
};

const OID_BYTES = 20;

/** Yields one at a time, because 100,000 entries would block the process (S137). `isWanted` gets the name's start and end. */
export function* entriesIn(content: Buffer, isWanted = (_start: number, _end: number) => true): Generator<TreeEntry> {
  for (let at = 0; at < content.length; ) {
    let start = at;
    while (start < content.length && content[start] !== 0x20) start++;
    start++;
    let end = start;
    while (end < content.length && content[end] !== 0) end++;
    const next = end + 1 + OID_BYTES;
    if (next > content.length) return;
    if (isWanted(start, end)) {
      const mode = content.toString("latin1", at, start - 1).padStart(6, "0");
      const bytes = content.subarray(start, end);
      yield { mode, type: typeOf(mode), name: bytes.toString("utf8"), bytes, oid: content.toString("hex", end + 1, next) };
    }
    at = next;
  }
}

/** Finds a name that is not UTF-8 by the name that pages show. */
function findNamed(content: Buffer, name: string): TreeEntry | undefined {
  const wanted = Buffer.from(name);
  const isExact = (start: number, end: number) => {
    if (end - start !== wanted.length) return false;
    let same = 0;
    while (same < wanted.length && content[start + same] === wanted[same]) same++;
    return same === wanted.length;
  };
  const [exact] = entriesIn(content, isExact);
  if (exact || !name.includes("\ufffd")) return exact;
  const isShownSo = (start: number, end: number) => end - start <= wanted.length && content.toString("utf8", start, end) === name;
  const [shown] = entriesIn(content, isShownSo);
  return shown;
}

function typeOf(mode: string): EntryType {
  if (mode.startsWith("04")) return "directory";
  if (mode.startsWith("12")) return "symlink";
  return mode.startsWith("16") ? "submodule" : "file";
}

/** Each folder of a path is read, so paths have limits (S137). */
export const PATH_MAX_BYTES = 4096;
export const PATH_MAX_NAMES = 200;
const NOT_A_NAME = new Set(["", ".", ".."]);

/** @returns false for a path that git would resolve to another place (S137) */
export function isTreePath(path: string): boolean {
  if (Buffer.byteLength(path) > PATH_MAX_BYTES || path.includes("\0")) return false;
  const names = path.split("/");
  return names.length <= PATH_MAX_NAMES && !names.some((name) => NOT_A_NAME.has(name));
}

export type Entry = {
  type: EntryType;
  path: string;
  name: string;
  oid: string;
  mode: string;
  /** In bytes. For a file in Git LFS, this is the size of its content. */
  size: number;
  lfs?: LfsPointer;
  lastCommit?: CommitSummary;
};

export async function describeEntry(objects: GitObjects, entry: TreeEntry, path: string): Promise<Entry> {
  const { type, name, oid, mode } = entry;
  const described = { type, path, name, oid, mode };
  if (type === "directory" || type === "submodule") return { ...described, size: 0 };
  const size = (await objects.info(oid))?.size ?? 0;
  const lfs = await readLfsPointer(objects, entry, size);
  return { ...described, size: lfs?.size ?? size, ...(lfs && { lfs }) };
}

type LfsPointer = LfsObjectId & { pointerSize: number };

/** The shortest possible `version`, `oid` and `size` have more bytes. */
const POINTER_MIN_BYTES = 100;

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
