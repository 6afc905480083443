import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "../../errors.ts";
import { makeTemporaryFolder } from "../../temporary-folder.ts";
import { runWalkGit, walker } from "../git/read/walk.ts";
import { GitFailed, runGit } from "../git/run-git.ts";

/** The outcome of merging two commits. */
export type Merged =
  | { outcome: "clean"; tree: string }
  | { outcome: "conflicts"; files: string[] }
  /** They have no history in common. */
  | { outcome: "unrelated" };

const FILES_MAX = 1_000;

const merges = walker<Merged>({ max: 200, keepsWhole: false });
const tries = walker<Merged>({ max: 200 });

/**
 * Merges two commits as git does, without a work tree. Trees of a few kilobytes can keep git busy for hours, so it holds a slot for walks
 * meanwhile (S137).
 * @throws ServiceError `unavailable` if git is older than 2.38, which cannot do that; if no slot was free in time; if it takes too much
 */
export function mergeTree(path: string, ours: string, theirs: string): Promise<Merged> {
  const walk = async () => ({ value: await merge(path, ours, theirs), isWhole: true });
  return merges({ directory: path, of: [ours, theirs], walk });
}

/**
 * The same for a preview: what it writes is thrown away. The result for two commits never changes, and is remembered for the next
 * reader.
 */
export function tryMerge(path: string, ours: string, theirs: string): Promise<Merged> {
  const walk = async () => {
    const scratch = await makeTemporaryFolder("merge");
    try {
      const env = { GIT_OBJECT_DIRECTORY: scratch, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(path, "objects") };
      return { value: await merge(path, ours, theirs, env), isWhole: true };
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  };
  return tries({ directory: path, of: [ours, theirs], walk });
}

async function merge(path: string, ours: string, theirs: string, env: Record<string, string> = {}): Promise<Merged> {
  await requireMergeTree(path);
  if (!(await haveCommonHistory(path, ours, theirs))) return { outcome: "unrelated" };
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--end-of-options", ours, theirs];
  // Exits with 1 if files conflict, and names them after the tree.
  const output = await runWalkGit(path, args, { env, acceptedStatuses: [0, 1] });
  const [tree = "", ...files] = output.toString("utf8").split("\0").filter(Boolean);
  return files.length === 0 ? { outcome: "clean", tree } : { outcome: "conflicts", files: unique(files) };
}

async function haveCommonHistory(path: string, one: string, other: string): Promise<boolean> {
  try {
    await runWalkGit(path, ["merge-base", "--end-of-options", one, other]);
    return true;
  } catch (error) {
    if (error instanceof GitFailed && error.status === 1) return false;
    throw error;
  }
}

let checked: Promise<boolean> | undefined;

async function requireMergeTree(path: string): Promise<void> {
  checked ??= runGit(path, ["version"]).then((output) => isNewEnough(output.toString("utf8")));
  if (await checked) return;
  throw new ServiceError(
    "unavailable",
    "Merging needs git 2.38 or later where this service runs. Ask its operator to update it.",
  );
}

/** Whether this git has `merge-tree --write-tree`. */
export function isNewEnough(version: string): boolean {
  const [, major = 0, minor = 0] = /(?<!\d)(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  return major > 2 || (major === 2 && minor >= 38);
}

const unique = (files: string[]): string[] => [...new Set(files)].slice(0, FILES_MAX).map((file) => file.toWellFormed());
