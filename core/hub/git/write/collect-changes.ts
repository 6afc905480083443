import { db } from "../../../db.ts";
import { ServiceError } from "../../../errors.ts";
import { isLfsOid } from "../../lfs/lfs-object.ts";
import { lfsPointerTo } from "../../lfs/parse-lfs-pointer.ts";
import type { Change } from "./build-commit.ts";
import { fileMaxBytes, OPERATIONS_MAX, type Operation, PATHS_MAX_BYTES } from "./operation.ts";
import { isDotGit, parseExistingPath, parsePath, shownPath } from "./parse-path.ts";
import type { Content, Import } from "./start-import.ts";

export type Collected = {
  changes: Change[];
  /** The paths whose content is in Git LFS. */
  lfsPaths: string[];
  /** The commit's own `.gitattributes`. */
  rootAttributes: Uint8Array | undefined;
};

type LfsFile = Operation & { type: "lfsFile" };

const ATTRIBUTES_MAX_BYTES = 1024 * 1024;
// Git ignores longer lines, and its fsck reports them as errors.
const ATTRIBUTES_LINE_MAX_BYTES = 2_048;

/**
 * Reads the operations of a commit and writes the contents as they arrive: no more than one of them is held at a time.
 * @param resolveCommit resolves the revision of a copy
 * @throws ServiceError `invalid_request` that names the path; `payload_too_large`
 */
export async function collectChanges(
  operations: AsyncIterable<Operation> | Iterable<Operation>,
  {
    repoId,
    git,
    resolveCommit,
  }: { repoId: string; git: () => Promise<Import>; resolveCommit: (revision: string) => Promise<string> },
): Promise<Collected> {
  const collected: Collected = { changes: [], lfsPaths: [], rootAttributes: undefined };
  const lfsFiles: { file: LfsFile; at: number }[] = [];
  let pathBytes = 0;
  for await (const operation of operations) {
    pathBytes += Buffer.byteLength(String(operation.path));
    if (collected.changes.length >= OPERATIONS_MAX || pathBytes > PATHS_MAX_BYTES) {
      throw new ServiceError("payload_too_large", `That is more than fits into one commit: at most ${OPERATIONS_MAX} files.`);
    }
    if (operation.type === "lfsFile") lfsFiles.push({ file: operation, at: collected.changes.length });
    const change = await collect(operation, collected, { git, resolveCommit });
    collected.changes.push(change);
  }
  const sizes = await findLfsSizes(
    repoId,
    lfsFiles.map(({ file }) => file),
  );
  for (const { file, at } of lfsFiles) {
    const pointer = Buffer.from(lfsPointerTo({ oid: file.oid, size: sizeOf(file, sizes) }));
    const change = collected.changes[at] as Change & { kind: "put" };
    change.blob = await (await git()).writeBlob(pointer);
    collected.lfsPaths.push(change.path);
  }
  return collected;
}

async function collect(
  operation: Operation,
  collected: Collected,
  { git, resolveCommit }: { git: () => Promise<Import>; resolveCommit: (revision: string) => Promise<string> },
): Promise<Change> {
  switch (operation.type) {
    case "file": {
      const path = parsePath(operation.path);
      requireSmall(path, operation.content);
      if (isDotGit(path.split("/").at(-1) ?? "", "attributes")) {
        const bytes = await parseAttributes(path, operation.content);
        if (path === ".gitattributes") collected.rootAttributes = bytes;
        return { kind: "put", path, blob: await (await git()).writeBlob(bytes) };
      }
      return { kind: "put", path, blob: await (await git()).writeBlob(operation.content) };
    }
    case "lfsFile": {
      const path = parsePath(operation.path);
      if (!isLfsOid(operation.oid)) {
        throw new ServiceError("invalid_request", `The oid of ${shownPath(path)} is not a SHA-256 in 64 hex digits.`);
      }
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

function requireSmall(path: string, content: Content): void {
  const size = content instanceof Uint8Array ? content.byteLength : content.sizeBytes;
  if (size <= fileMaxBytes()) return;
  throw new ServiceError(
    "payload_too_large",
    `${shownPath(path)} is larger than ${fileMaxBytes() / 1024 / 1024} MiB: upload it with Git LFS.`,
  );
}

/** A .gitattributes that git reads completely. */
async function parseAttributes(path: string, content: Content): Promise<Uint8Array> {
  const size = content instanceof Uint8Array ? content.byteLength : content.sizeBytes;
  const bytes =
    content instanceof Uint8Array ? content : size <= ATTRIBUTES_MAX_BYTES ? await wholeOf(content.chunks) : new Uint8Array();
  const lines = Buffer.from(bytes).toString("latin1").split("\n");
  if (size > ATTRIBUTES_MAX_BYTES || lines.some((line) => line.length >= ATTRIBUTES_LINE_MAX_BYTES)) {
    throw new ServiceError(
      "invalid_request",
      `${shownPath(path)} is larger than 1 MiB or has a line of more than ${ATTRIBUTES_LINE_MAX_BYTES - 1} bytes, which git does not read.`,
    );
  }
  return bytes;
}

async function wholeOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

/** The sizes of files uploaded to this repository: other pointers would name files that nobody can fetch, or that others uploaded. */
async function findLfsSizes(repoId: string, files: readonly LfsFile[]): Promise<Map<string, number>> {
  if (files.length === 0) return new Map();
  const oids = [...new Set(files.map(({ oid }) => oid))];
  const rows = await db().lfsObject.findMany({ where: { repoId, oid: { in: oids } }, select: { oid: true, sizeBytes: true } });
  return new Map(rows.map(({ oid, sizeBytes }) => [oid, Number(sizeBytes)]));
}

function sizeOf({ path, oid, sizeBytes }: LfsFile, sizes: Map<string, number>): number {
  const size = sizes.get(oid);
  if (size === undefined) {
    throw new ServiceError("invalid_request", `The content of ${shownPath(path)} was not uploaded: send it by Git LFS first.`);
  }
  if (sizeBytes !== undefined && sizeBytes !== size) {
    throw new ServiceError("invalid_request", `What was uploaded for ${shownPath(path)} has ${size} bytes, not ${sizeBytes}.`);
  }
  return size;
}
