import { setImmediate } from "node:timers/promises";
import { env } from "../../../env.ts";
import { invalidRequest, ServiceError } from "../../../errors.ts";
import { isLfsOid } from "../../lfs/lfs-object.ts";
import { findLfsObjects, type StoredLfsObject } from "../../lfs/objects/find-lfs-object.ts";
import { lfsPointerTo } from "../../lfs/parse-lfs-pointer.ts";
import type { ProposedPointer } from "../../lfs/proposals/proposed-files.ts";
import { belowFile, type Change } from "./build-commit.ts";
import { Folders } from "./folders.ts";
import { isDotGit, parseExistingPath, parsePath, shownPath } from "./parse-path.ts";
import type { Content, Import } from "./start-import.ts";

export type Collected = {
  changes: Change[];
  hasContent: boolean;
  lfsPaths: string[];
  proposed: ProposedPointer[];
  rootAttributes: Uint8Array | undefined;
};

type LfsFile = Operation & { type: "lfsFile" };

const OPERATIONS_PER_TURN = 128;
const ATTRIBUTES_MAX_BYTES = 1024 * 1024;
// Git ignores longer lines, and its fsck reports them.
const ATTRIBUTES_LINE_MAX_BYTES = 2_048;

/**
 * Holds one content in memory at a time.
 * @param options.repoId undefined if the author may not use the repository's large files
 * @param options.storeId the store with the proposed large files of a pull request's author (decision 038)
 * @param options.countContent throws if there is too much content
 */
export async function collectChanges(
  operations: AsyncIterable<Operation> | Iterable<Operation>,
  {
    repoId,
    storeId,
    git,
    resolveCommit,
    countContent,
  }: {
    repoId: string | undefined;
    storeId?: string | undefined;
    git: () => Promise<Import>;
    resolveCommit: (revision: string) => Promise<string>;
    countContent: (bytes: number) => void;
  },
): Promise<Collected> {
  const collected: Collected = { changes: [], hasContent: false, lfsPaths: [], proposed: [], rootAttributes: undefined };
  const lfsFiles: { file: LfsFile; at: number }[] = [];
  const folders = new Folders();
  let pathBytes = 0;
  for await (const operation of operations) {
    // Without a pause, a list in memory would block the event loop to its end (S137).
    if (collected.changes.length % OPERATIONS_PER_TURN === 0) await setImmediate();
    const source = operation.type === "copyFile" ? String(operation.from.path) : "";
    pathBytes += Buffer.byteLength(String(operation.path)) + Buffer.byteLength(source);
    if (collected.changes.length >= OPERATIONS_MAX || pathBytes > PATHS_MAX_BYTES) {
      const pathsMax = `${PATHS_MAX_BYTES / 1024 / 1024} MiB`;
      throw new ServiceError(
        "payload_too_large",
        `A commit can change at most ${OPERATIONS_MAX.toLocaleString("en")} files, with paths of at most ${pathsMax} together. Split it into several.`,
      );
    }
    if (operation.type === "lfsFile") lfsFiles.push({ file: operation, at: collected.changes.length });
    const change = await collect(operation, collected, { git, resolveCommit, countContent });
    if (change.kind !== "delete") folders.add(change.path);
    collected.changes.push(change);
  }
  // A pointer to an object outside of these stores would name a file that nobody can fetch, or that another user uploaded.
  const oids = [...new Set(lfsFiles.map(({ file }) => file.oid))];
  const holders = [repoId, storeId].filter((id) => id !== undefined);
  const objects = await findLfsObjects(holders, oids);
  for (const { file, at } of lfsFiles) {
    const { oid, size, holderId } = objectOf(file, objects);
    const change = collected.changes[at] as Change & { kind: "put" };
    change.blob = await (await git()).writeBlob(Buffer.from(lfsPointerTo({ oid, size })));
    collected.lfsPaths.push(change.path);
    if (holderId !== repoId) collected.proposed.push({ blob: change.blob, oid });
  }
  return collected;
}

/** Before a repository is created, refuses files that a commit would refuse. */
export async function checkFirstFiles(files: readonly { path: string; content: Uint8Array }[]): Promise<void> {
  const paths = new Set(files.map(({ path }) => path));
  const folders = new Folders();
  for (const { path, content } of files) {
    requireSmall(path, content);
    if (isAttributes(path)) await parseAttributes(path, content);
    const file = folders.add(path).find((folder) => paths.has(folder));
    if (file !== undefined) throw belowFile(file, path);
  }
}

async function collect(
  operation: Operation,
  collected: Collected,
  { git, resolveCommit, countContent }: Pick<Parameters<typeof collectChanges>[1], "git" | "resolveCommit" | "countContent">,
): Promise<Change> {
  switch (operation.type) {
    case "file": {
      const path = parsePath(operation.path);
      countContent(requireSmall(path, operation.content));
      collected.hasContent = true;
      if (isAttributes(path)) {
        const bytes = await parseAttributes(path, operation.content);
        if (path === ".gitattributes") collected.rootAttributes = bytes;
        return { kind: "put", path, blob: await (await git()).writeBlob(bytes) };
      }
      return { kind: "put", path, blob: await (await git()).writeBlob(operation.content) };
    }
    case "lfsFile": {
      const path = parsePath(operation.path);
      if (!isLfsOid(operation.oid)) throw invalidRequest(`The oid of ${shownPath(path)} is not a SHA-256 of 64 hex digits.`);
      return { kind: "put", path, blob: "" };
    }
    case "copyFile": {
      const { path, revision } = operation.from;
      const commit = revision === undefined ? null : await resolveCommit(revision);
      return { kind: "copy", path: parsePath(operation.path), from: { path: parseExistingPath(path), commit } };
    }
    default: {
      const what = { deletedFile: "file", deletedFolder: "folder", deletedEntry: "entry" } as const;
      return { kind: "delete", path: parseExistingPath(operation.path), what: what[operation.type] };
    }
  }
}

const isAttributes = (path: string): boolean => isDotGit(path.split("/").at(-1) ?? "", "attributes");

function requireSmall(path: string, content: Content): number {
  const size = content instanceof Uint8Array ? content.byteLength : content.sizeBytes;
  if (size <= fileMaxBytes()) return size;
  throw new ServiceError(
    "payload_too_large",
    `${shownPath(path)} is larger than ${fileMaxBytes() / 1024 / 1024} MiB: upload it with Git LFS.`,
  );
}

async function parseAttributes(path: string, content: Content): Promise<Uint8Array> {
  const size = content instanceof Uint8Array ? content.byteLength : content.sizeBytes;
  const bytes =
    content instanceof Uint8Array ? content : size <= ATTRIBUTES_MAX_BYTES ? await wholeOf(content.chunks) : new Uint8Array();
  if (size > ATTRIBUTES_MAX_BYTES || hasLongLine(bytes)) {
    throw invalidRequest(
      `${shownPath(path)} is larger than 1 MiB or has a line of more than ${ATTRIBUTES_LINE_MAX_BYTES - 1} bytes, so git cannot read it. Shorten it.`,
    );
  }
  return bytes;
}

/** Searches back from the longest possible end of each line: splitting a file of empty lines would block the process (S137). */
function hasLongLine(bytes: Uint8Array): boolean {
  for (let at = 0; bytes.length - at >= ATTRIBUTES_LINE_MAX_BYTES; ) {
    const end = bytes.lastIndexOf(0x0a, at + ATTRIBUTES_LINE_MAX_BYTES - 1);
    if (end < at) return true;
    at = end + 1;
  }
  return false;
}

async function wholeOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

function objectOf({ path, oid, sizeBytes }: LfsFile, objects: ReadonlyMap<string, StoredLfsObject>): StoredLfsObject {
  const object = objects.get(oid);
  if (!object) throw invalidRequest(`The content of ${shownPath(path)} was not uploaded: upload it with Git LFS first.`);
  if (sizeBytes !== undefined && sizeBytes !== object.size) {
    throw invalidRequest(`The content uploaded for ${shownPath(path)} has ${object.size} bytes, not ${sizeBytes}.`);
  }
  return object;
}

/** See docs/specification/repositories-and-git.md#commits-over-the-api. */
export type Operation =
  | { type: "file"; path: string; content: Content }
  /** The content is in Git LFS. `oid` is its SHA-256. */
  | { type: "lfsFile"; path: string; oid: string; sizeBytes?: number }
  | { type: "deletedFile"; path: string }
  | { type: "deletedFolder"; path: string }
  | { type: "deletedEntry"; path: string }
  | { type: "copyFile"; path: string; from: { path: string; revision?: string } };

/** The limits of one commit (S138). */
export const OPERATIONS_MAX = 25_000;
const PATHS_MAX_BYTES = 8 * 1024 * 1024;
const FILE_MAX_MB = 10;

/** In bytes. A larger file belongs in Git LFS. */
export const fileMaxBytes = (): number => Math.min(FILE_MAX_MB, env().GIT_MAX_FILE_MB) * 1024 * 1024;
