import { invalidRequest, notFound, ServiceError } from "../../../errors.ts";
import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import { type GitObjects, TooMuchToRead, withObjects } from "./git-objects.ts";
import { findLastCommits } from "./last-commits.ts";
import { type Revision, resolveRevision } from "./revision.ts";
import {
  describeEntry,
  type Entry,
  entriesIn,
  findEntry,
  PATH_MAX_BYTES,
  PATH_MAX_NAMES,
  requireEntry,
  type TreeEntry,
} from "./tree-entries.ts";

export const TREE_PAGE_MAX = 1_000;
export const EXPANDED_TREE_PAGE_MAX = 200;

export type TreePage = {
  revision: Revision;
  entries: Entry[];
  nextCursor: string | null;
};

type TreeQuery = {
  revision: string;
  path?: string;
  isRecursive?: boolean;
  isExpanded?: boolean;
  cursor?: string;
  limit?: number;
};

export async function listTree(repo: Repo, query: TreeQuery): Promise<TreePage> {
  const directory = await openRepository(repo);
  const page = await withObjects(directory, (objects) => listTreeWith(objects, repo, query));
  const { sha } = page.revision;
  if (!query.isExpanded || sha === null) return page;
  // Searching for commits can take far longer than reading the tree, so it uses slots of its own.
  return { ...page, entries: await withLastCommits(directory, sha, query.path ?? "", page.entries) };
}

export async function listTreeWith(
  objects: GitObjects,
  repo: Repo,
  { path = "", isRecursive = false, isExpanded = false, cursor, limit, ...query }: TreeQuery,
): Promise<TreePage> {
  const revision = await resolveRevision(objects, repo, query.revision);
  const after = cursor === undefined || cursor === "" ? undefined : readCursor(cursor);
  const max = isExpanded ? EXPANDED_TREE_PAGE_MAX : TREE_PAGE_MAX;
  const size = Math.min(Math.max(Math.trunc(limit || max), 1), max);
  const folder = await requireEntry(objects, revision.sha, path);
  if (folder !== "root" && folder.type !== "directory") throw notFound("Entry");
  if (revision.sha === null) return { revision, entries: [], nextCursor: null };
  const treeish = folder === "root" ? revision.sha : folder.oid;
  const walking: Walking = { found: [], entries: 0, pathBytes: 0 };
  await walkInto(objects, treeish, { prefix: path, after, isRecursive, max: size + 1, isPage: true }, walking);
  const { found } = walking;
  const isMore = found.length > size || isFull(walking);
  const page = isMore ? found.slice(0, -1) : found;
  const entries = await Promise.all(page.map(({ entry, path }) => describeEntry(objects, entry, path)));
  const last = page.at(-1);
  const nextCursor = isMore && last ? cursorOf(last) : null;
  return { revision, entries, nextCursor };
}

/** Call this while no objects are open. */
async function withLastCommits(directory: string, commit: string, folder: string, entries: Entry[]): Promise<Entry[]> {
  const commits = await findLastCommits(directory, commit, { folder, paths: entries.map(({ path }) => path) });
  return entries.map((entry) => ({ ...entry, lastCommit: commits.get(entry.path) }));
}

/** S137: creating very many objects blocks the process. */
const WALK_ENTRIES_MAX = 250_000;

/** The limit for paths as JSON. Each path repeats its folders' names, which the pusher chooses (S137). */
const WALK_PATHS_MAX_BYTES = 8 * 1024 * 1024;
/** Long paths end a page earlier. The page's HTML has up to twenty times as many bytes (S137). */
const PAGE_PATHS_MAX_BYTES = 256 * 1024;

export type Found = { entry: TreeEntry; path: string };
type Walk = { prefix: string; after?: Cursor | undefined; isRecursive: boolean; max: number; isPage?: boolean };

/** Omits paths that are too long to be requested, and everything below them. */
export async function walkTree(objects: GitObjects, treeish: string, walk: Walk): Promise<Found[]> {
  const walking: Walking = { found: [], entries: 0, pathBytes: 0 };
  await walkInto(objects, treeish, walk, walking);
  return walking.found;
}

type Walking = { found: Found[]; entries: number; pathBytes: number };

const isFull = ({ pathBytes }: Walking): boolean => pathBytes > PAGE_PATHS_MAX_BYTES;
const bytesAsJson = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

async function walkInto(objects: GitObjects, treeish: string, walk: Walk, walking: Walking): Promise<void> {
  const { prefix, after, isRecursive, max, isPage } = walk;
  const base = prefix === "" ? "" : `${prefix}/`;
  if (base.split("/").length > PATH_MAX_NAMES) return;
  const tree = await objects.tree(treeish);
  if (!tree) return;
  const entries = [...entriesIn(tree)];
  walking.entries += entries.length;
  if (walking.entries > WALK_ENTRIES_MAX)
    throw new TooMuchToRead(
      "These folders have too many entries to list together. List them one by one, or clone the repository.",
    );
  const baseBytes = Buffer.byteLength(base);
  const baseBytesAsJson = bytesAsJson(base);
  for (const entry of foldersFirst(entries)) {
    if (walking.found.length >= max || (isPage && isFull(walking))) return;
    if (baseBytes + Buffer.byteLength(entry.name) > PATH_MAX_BYTES) continue;
    const path = base + entry.name;
    const place = after ? compare({ path, isFolder: entry.type === "directory" }, after) : "after";
    if (place === "after") {
      walking.pathBytes += baseBytesAsJson + bytesAsJson(entry.name);
      if (walking.pathBytes > WALK_PATHS_MAX_BYTES)
        throw new TooMuchToRead(
          "The paths of these files are too long to list at once. List their folders one by one, or clone the repository.",
        );
      walking.found.push({ entry, path });
    }
    if (isRecursive && entry.type === "directory" && place !== "before") {
      const below = { ...walk, prefix: path, after: place === "after" ? undefined : after };
      await walkInto(objects, entry.oid, below, walking);
    }
  }
}

function foldersFirst(entries: TreeEntry[]): TreeEntry[] {
  return [...entries.filter(({ type }) => type === "directory"), ...entries.filter(({ type }) => type !== "directory")];
}

type Cursor = { path: string; isFolder: boolean };

const cursorOf = ({ entry, path }: Found): string =>
  Buffer.from(entry.type === "directory" ? `${path}/` : path).toString("base64url");

function readCursor(cursor: string): Cursor {
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  const isUnderstood = text !== "" && cursor.length <= 8_192 && Buffer.from(text).toString("base64url") === cursor;
  if (!isUnderstood)
    throw invalidRequest("This is not a valid cursor. Use the next page's URL from the header `Link`.", "cursor");
  return text.endsWith("/") ? { path: text.slice(0, -1), isFolder: true } : { path: text, isFolder: false };
}

/** `around`: the entry is the cursor's own, or a folder that contains it. */
function compare(one: Cursor, cursor: Cursor): "before" | "around" | "after" {
  if (one.path === cursor.path || (one.isFolder && cursor.path.startsWith(`${one.path}/`))) return "around";
  if (cursor.isFolder && one.path.startsWith(`${cursor.path}/`)) return "after";
  const [mine, theirs] = [one.path.split("/"), cursor.path.split("/")];
  const depth = mine.length - 1;
  // Only folders that contain the cursor's entry are opened, so both entries have the same parent.
  const isTheirsFolder = theirs.length > mine.length || cursor.isFolder;
  if (one.isFolder !== isTheirsFolder) return one.isFolder ? "before" : "after";
  return comparable(mine[depth], one.isFolder) < comparable(theirs[depth], isTheirsFolder) ? "before" : "after";
}

/** Like git, compares bytes with a slash after a folder's name. Latin-1 keeps the order of bytes. */
const comparable = (name = "", isFolder: boolean): string => Buffer.from(isFolder ? `${name}/` : name).toString("latin1");

export const PATHS_MAX = 1_000;

export async function findPaths(
  repo: Repo,
  { revision: name, paths, isExpanded = false }: { revision: string; paths: readonly string[]; isExpanded?: boolean },
): Promise<Entry[]> {
  const directory = await openRepository(repo);
  const { sha, entries } = await withObjects(directory, async (objects) => {
    const { sha } = await resolveRevision(objects, repo, name);
    const entries: Entry[] = [];
    if (sha === null) return { sha, entries };
    for (const path of new Set(paths.slice(0, PATHS_MAX))) {
      const entry = await findEntry(objects, sha, path);
      if (entry && entry !== "root") entries.push(await describeEntry(objects, entry, path));
    }
    return { sha, entries };
  }).catch((error: unknown) => {
    throw error instanceof TooMuchToRead ? new ServiceError("payload_too_large", error.message, { cause: error }) : error;
  });
  return isExpanded && sha !== null ? withLastCommits(directory, sha, "", entries) : entries;
}
