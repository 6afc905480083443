import { createHash } from "node:crypto";
import type { Actor } from "../../../access/actor.ts";
import { conflict, isServiceError } from "../../../errors.ts";
import { findLfsObjects } from "../../lfs/objects/find-lfs-object.ts";
import { storeLfsObject } from "../../lfs/objects/record-lfs-object.ts";
import { uploadTargetOf } from "../../lfs/proposals/proposal-store.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import type { Repo } from "../../repos/repo.ts";
import { withObjects } from "../read/git-objects.ts";
import { findEntry } from "../read/tree-entries.ts";
import { runWalk } from "../read/walk.ts";
import { resolveRef } from "../refs/git-refs.ts";
import { openRepository } from "../repository.ts";
import { resolveCommitTarget } from "./change-target.ts";
import type { Operation } from "./collect-changes.ts";
import { type Committed, createCommit } from "./create-commit.ts";
import { parsePath, shownPath } from "./parse-path.ts";
import { planUpload } from "./plan-upload.ts";

export type FileChange = {
  path: string;
  content: Uint8Array | null;
  isNew?: boolean;
};

export type FileChanges = {
  branch: string;
  /** The commit that the user saw. Null if the branch had none. */
  seen: string | null;
  files: readonly FileChange[];
  summary: string;
  description?: string;
  isPullRequest?: boolean;
};

export type NewerVersion = {
  path: string;
  head: string;
  /** The commit that last changed the file, or the head if git did not find it in time. */
  commit: string;
  authorName?: string;
  title?: string;
  isDeleted: boolean;
};

type FilesChanged = { outcome: "committed"; committed: Committed } | { outcome: "overtaken"; newer: NewerVersion };

const ATTEMPTS_MAX = 5;

/** Keeps others' changes of other files, and reports their changes of these files. */
export async function changeFiles(actor: Actor, name: RepoName, input: FileChanges): Promise<FilesChanged> {
  const { branch, seen, isPullRequest = false } = input;
  const repo = await findRepo(actor, name);
  const directory = await openRepository(repo);
  const files = input.files.map((file) => ({ ...file, path: file.content === null ? file.path : parsePath(file.path) }));
  const seenPaths = files.filter(({ isNew }) => !isNew).map(({ path }) => path);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const ref = await resolveCommitTarget(actor, repo, directory, { revision: branch, isPullRequest });
    const head = await resolveRef(directory, ref);
    const newer = head && (await findNewer(directory, { seen, head, paths: seenPaths }));
    if (newer) return { outcome: "overtaken", newer };
    if (head) await requireAbsent(directory, head, files);
    const operations = await operationsFor(actor, repo, name, { ...input, files });
    try {
      const { summary, description } = input;
      const commit = { revision: branch, summary, description, isPullRequest, operations, parentCommit: head };
      return { outcome: "committed", committed: await createCommit(actor, name, commit) };
    } catch (error) {
      if (!isServiceError(error) || error.code !== "precondition_failed") throw error;
    }
  }
  throw conflict("Many commits to this branch are in progress. Nothing was lost. Try again in a moment.");
}

async function findNewer(
  directory: string,
  { seen, head, paths }: { seen: string | null; head: string; paths: readonly string[] },
): Promise<NewerVersion | undefined> {
  if (seen === head) return undefined;
  const changed = await withObjects(directory, async (objects) => {
    for (const path of paths) {
      const [before, now] = [await oidAt(objects, seen, path), await oidAt(objects, head, path)];
      if (before !== now) return { path, isDeleted: now === undefined };
    }
    return undefined;
  });
  return changed && { ...changed, head, ...(await latestChange(directory, head, changed.path)) };
}

async function oidAt(objects: Parameters<typeof findEntry>[0], commit: string | null, path: string): Promise<string | undefined> {
  if (!commit || !/^[0-9a-f]{40}$/.test(commit)) return undefined;
  const entry = await findEntry(objects, commit, path);
  return entry && entry !== "root" ? entry.oid : undefined;
}

/** Git may not find the commit of a long history in time (S137). */
async function latestChange(directory: string, head: string, path: string) {
  const args = ["log", "-1", "--format=%H%x00%an%x00%s", "--encoding=UTF-8", "--end-of-options", head, "--", path];
  try {
    const output = await runWalk(directory, args, { env: { GIT_LITERAL_PATHSPECS: "1" } });
    const [commit = head, authorName = "", title = ""] = output.toString("utf8").trim().split("\0");
    return { commit: commit || head, authorName: authorName.slice(0, 100), title: title.slice(0, 200) };
  } catch (error) {
    if (!isServiceError(error) || error.code !== "unavailable") throw error;
    return { commit: head };
  }
}

async function requireAbsent(directory: string, head: string, files: readonly FileChange[]): Promise<void> {
  if (!files.some(({ isNew }) => isNew)) return;
  await withObjects(directory, async (objects) => {
    for (const { path, isNew } of files) {
      if (!isNew || (await oidAt(objects, head, path)) === undefined) continue;
      throw conflict(`${shownPath(path)} already exists. Choose another name, or edit the existing file.`, "path");
    }
  });
}

/** Uploads content that belongs in Git LFS before the commit. */
async function operationsFor(actor: Actor, repo: Repo, name: RepoName, input: FileChanges): Promise<Operation[]> {
  const { branch, isPullRequest = false } = input;
  const written = input.files.filter((file): file is { path: string; content: Uint8Array } => file.content !== null);
  const files = written.map(({ path, content }) => ({ path, sizeBytes: content.byteLength, sample: content.subarray(0, 512) }));
  const plans = files.length > 0 ? await planUpload(actor, name, { revision: branch, isPullRequest, files }) : [];
  const deletions = input.files
    .filter(({ content }) => content === null)
    .map(({ path }): Operation => ({ type: "deletedFile", path }));
  const operations = [...deletions];
  const ref = isPullRequest || branch.startsWith("refs/pr/") ? undefined : `refs/heads/${branch}`;
  for (const [index, { path, content }] of written.entries()) {
    if (plans[index]?.mode === "lfs") operations.push({ type: "lfsFile", path, oid: await store(actor, repo, content, ref) });
    else operations.push({ type: "file", path, content });
  }
  return operations;
}

async function store(actor: Actor, repo: Repo, content: Uint8Array, ref: string | undefined): Promise<string> {
  const target = await uploadTargetOf(actor, repo, ref);
  const oid = createHash("sha256").update(content).digest("hex");
  const found = await findLfsObjects([repo.id, target.id], [oid]);
  if (found.size === 0) await storeLfsObject(target.id, { oid, size: content.byteLength }, once(content));
  return oid;
}

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
