import { createWriteStream } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join, posix, relative } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Actor, anonymous, operatorCommand } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import { conflict, invalidRequest, isServiceError, ServiceError } from "../../errors.ts";
import { streamBlob } from "../../hub/git/read/find-file.ts";
import { type GitObjects, TooMuchToRead, withObjects } from "../../hub/git/read/git-objects.ts";
import { walkTree } from "../../hub/git/read/list-tree.ts";
import { readLfsPointer } from "../../hub/git/read/tree-entries.ts";
import { openRepository } from "../../hub/git/repository.ts";
import type { LfsObjectId } from "../../hub/lfs/lfs-object.ts";
import { openLfsObject } from "../../hub/lfs/objects/open-lfs-object.ts";
import { findRepo } from "../../hub/repos/find-repo.ts";
import { type Repo, repoResource } from "../../hub/repos/repo.ts";
import { isSameSpace, replaced } from "../../jobs/runs/require-offered.ts";
import type { SpaceOfJob } from "../../jobs/runs/run.ts";

type Owner = { kind: "user" | "organization"; id: string };

/** The job's owner and starter must both be able to read the Space. The error does not show whether the Space exists (S136). */
export async function takeSpaceFiles(
  { spaceId, space }: SpaceOfJob,
  { owner, delegate }: { owner: Owner; delegate: Actor | undefined },
  directory: string,
  { note, signal }: { note: (sentence: string) => void; signal: AbortSignal },
): Promise<void> {
  const [handle = "", name = ""] = spaceId.split("/");
  const repo = await findRepo(operatorCommand, { type: "space", owner: handle, name }).catch((error: unknown) => {
    if (isServiceError(error)) return undefined;
    throw error;
  });
  const mayHave =
    repo && delegate && (await mayRead(owner, repo)) && (await may(delegate, "repo.read_content", repoResource(repo)));
  if (!mayHave) {
    const sentence = `The Space ${spaceId} does not exist, or the job's owner or whoever started the job cannot read it. Check the name, and that both have access.`;
    throw new ServiceError("not_found", sentence);
  }
  if (space && !isSameSpace(space, { repoId: repo.id, ownerId: repo.owner.id })) throw conflict(replaced(spaceId));
  if (repo.headSha === null) throw invalidRequest(`The Space ${spaceId} has no files yet.`);
  try {
    await layOutFiles(repo, repo.headSha, directory, { note, signal });
  } catch (error) {
    if (!(error instanceof CannotLayOut)) throw error;
    throw new ServiceError("invalid_request", error.message, { cause: error });
  }
}

async function mayRead(owner: Owner, repo: Repo): Promise<boolean> {
  if (repo.owner.id === owner.id) return true;
  // Reading needs no recent authentication, so the time does not matter.
  const reader: Actor =
    owner.kind === "user"
      ? { kind: "person", userId: owner.id, isOperator: false, sessionId: "", authenticatedAt: new Date(0) }
      : anonymous;
  return may(reader, "repo.read_content", repoResource(repo));
}

const SPACE_FILES_MAX_BYTES = 1024 ** 3;
const SPACE_FILES_MAX = 20_000;
const SMALL_MAX_BYTES = 1024 * 1024;
const LINK_MAX_BYTES = 4_096;

export class CannotLayOut extends Error {
  override name = "CannotLayOut";
}

type File = { path: string; oid: string; size: number; isExecutable: boolean; lfsOid?: string };
type Link = { path: string; target: string };
type Options = {
  note: (sentence: string) => void;
  maxBytes?: number;
  signal?: AbortSignal;
};

/** File systems report these errors for names that are too long, or that they treat as equal. */
const UNWRITABLE: ReadonlySet<unknown> = new Set(["ENAMETOOLONG", "EEXIST", "EISDIR", "ENOTDIR", "EILSEQ", "EINVAL"]);

/**
 * Links are made last and stay within the directory, so that nothing is written through a link (S137).
 * @throws CannotLayOut
 */
export async function layOutFiles(repo: Repo, commit: string, directory: string, options: Options): Promise<Set<string>> {
  const path = await openRepository(repo);
  const { files, links } = await withObjects(path, (objects) => listFiles(objects, commit, options));
  const all = [...files, ...links].map(({ path }) => path);
  const { signal } = options;
  signal?.throwIfAborted();
  const small = files.filter(isSmall);
  try {
    for (const folder of new Set(all.map((each) => dirname(each)))) await mkdir(join(directory, folder), { recursive: true });
    // Each `withObjects` holds one of few slots and has a deadline, so files are read in batches.
    for (let at = 0; at < small.length; at += BATCH)
      await withObjects(path, (objects) => writeSmall(objects, small.slice(at, at + BATCH), { directory, signal }));
    for (const file of files.filter((each) => !isSmall(each))) await writeLarge(repo, file, { directory, signal });
    for (const { path, target } of links) await symlink(target, join(directory, path));
  } catch (error) {
    // Only a push can fix such a name, so the run is not retried.
    const { code, path: at } = error as NodeJS.ErrnoException;
    if (!UNWRITABLE.has(code)) throw error;
    const shown = JSON.stringify(at === undefined ? "" : relative(directory, at).slice(0, 200));
    throw new CannotLayOut(
      `The file ${shown} cannot be written: a name in its path is too long or already used by another file.`,
    );
  }
  return new Set(all);
}

type Into = { directory: string; signal: AbortSignal | undefined };

const BATCH = 500;

const isSmall = ({ size, lfsOid }: File): boolean => size <= SMALL_MAX_BYTES && lfsOid === undefined;

async function listFiles(
  objects: GitObjects,
  commit: string,
  { note, maxBytes = SPACE_FILES_MAX_BYTES, signal }: Options,
): Promise<{ files: File[]; links: Link[] }> {
  const max = SPACE_FILES_MAX * 2;
  const found = await walkTree(objects, commit, { prefix: "", isRecursive: true, max }).catch((error: unknown) => {
    throw error instanceof TooMuchToRead ? new CannotLayOut(error.message) : error;
  });
  const leaves = found.filter(({ entry }) => entry.type !== "directory");
  if (leaves.length > SPACE_FILES_MAX || found.length >= max)
    throw new CannotLayOut(`A Space can have at most ${SPACE_FILES_MAX.toLocaleString("en")} files.`);
  const files: File[] = [];
  const links: Link[] = [];
  let bytes = 0;
  for (const { entry, path } of leaves) {
    signal?.throwIfAborted();
    if (!isSafePath(path)) throw new CannotLayOut(`The file name ${JSON.stringify(path)} is not allowed.`);
    if (entry.type === "submodule") {
      note(`${path} is a submodule and was skipped`);
    } else if (entry.type === "symlink") {
      const target = (await objects.read(entry.oid, LINK_MAX_BYTES))?.bytes.toString("utf8") ?? "";
      if (staysWithin(path, target)) links.push({ path, target });
      else note(`the link ${path} leads out of the Space and was skipped`);
    } else {
      const size = (await objects.info(entry.oid))?.size ?? 0;
      const lfs = await readLfsPointer(objects, entry, size);
      const isExecutable = entry.mode === "100755";
      files.push({ path, oid: entry.oid, size: lfs?.size ?? size, isExecutable, ...(lfs && { lfsOid: lfs.oid }) });
      bytes += lfs?.size ?? size;
    }
    if (bytes > maxBytes) throw new CannotLayOut(`The files are larger than ${Math.floor(maxBytes / 1024 ** 2)} MiB in total.`);
  }
  return { files, links };
}

/** The pusher made the trees, so their names are checked again. */
const isSafePath = (path: string): boolean =>
  !path.includes("\0") &&
  path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && part.toLowerCase() !== ".git");

/** `..` is accepted only at the start, because `a/..` leads elsewhere if `a` is a link. */
function staysWithin(path: string, target: string): boolean {
  if (target === "" || target.includes("\0") || posix.isAbsolute(target)) return false;
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.some((part, at) => part === ".." && at > 0 && parts[at - 1] !== "..")) return false;
  return !/^\.\.(\/|$)/.test(posix.normalize(posix.join(posix.dirname(path), target)));
}

async function writeSmall(objects: GitObjects, files: readonly File[], { directory, signal }: Into): Promise<void> {
  for (const file of files) {
    signal?.throwIfAborted();
    const object = await objects.read(file.oid, SMALL_MAX_BYTES);
    if (!object) throw new CannotLayOut(`${file.path} is damaged in this repository.`);
    const out = openNew(directory, file);
    out.end(object.bytes);
    await new Promise<void>((resolve, reject) => out.once("close", resolve).once("error", reject));
  }
}

async function writeLarge(repo: Repo, file: File, { directory, signal }: Into): Promise<void> {
  signal?.throwIfAborted();
  const content =
    file.lfsOid === undefined
      ? await streamBlob(repo, file.oid)
      : await openLfs(repo, { oid: file.lfsOid, size: file.size }, file.path);
  // The size in a pointer is only a claim of its author.
  let left = file.size;
  const measure = new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length;
      done(left < 0 ? new CannotLayOut(`${file.path} is larger than declared.`) : null, chunk);
    },
  });
  await pipeline(content, measure, openNew(directory, file), { signal });
}

async function openLfs(repo: Repo, pointer: LfsObjectId, path: string) {
  try {
    return await openLfsObject(repo, pointer);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    throw new CannotLayOut(`The content of ${path} is missing in Git LFS. Push it again with git lfs push.`);
  }
}

/** Never overwrites a file, and never writes through a link. */
const openNew = (directory: string, { path, isExecutable }: File) =>
  createWriteStream(join(directory, path), { flags: "wx", mode: isExecutable ? 0o755 : 0o644 });
