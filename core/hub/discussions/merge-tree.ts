import { rm } from "node:fs/promises";
import { ServiceError } from "../../errors.ts";
import { makeTemporaryFolder } from "../../temporary-folder.ts";
import { countObjects } from "../git/count-objects.ts";
import { startOf } from "../git/read/commit.ts";
import { PATH_MAX_BYTES } from "../git/read/tree-entries.ts";
import { runWalkGit, walker } from "../git/read/walk.ts";
import { GitFailed, type GitOptions, quarantined, RanOutOfTime, runGit } from "../git/run-git.ts";

type Merged = { outcome: "clean"; tree: string } | { outcome: "conflicts"; files: string[] } | { outcome: "unrelated" };

const FILES_MAX = 1_000;
/** S137: each character may become ten in a page. */
const NAMES_MAX_CHARACTERS = 128 * 1024;

const merges = walker<Merged>({ max: 200, keepsWhole: false });
const tries = walker<Merged>({ max: 200 });

/** S137: a merge writes whole files, so a few merges of long files could fill the disk. */
const LIMITS = { maxBytes: 256 * 1024 * 1024, lookMs: 1_000 };

/** Holds a slot for walks, because even small trees can keep git busy for hours (S137). Git writes into the folder `objects`. */
export function mergeTree(path: string, ours: string, theirs: string, objects: string): Promise<Merged> {
  const walk = async () => ({ value: await mergeInto(objects, path, ours, theirs, LIMITS), isWhole: true });
  return merges({ directory: path, of: [ours, theirs], walk });
}

export function tryMerge(path: string, ours: string, theirs: string, limits = LIMITS): Promise<Merged> {
  const walk = async () => {
    const scratch = await makeTemporaryFolder("merge");
    try {
      return { value: await mergeInto(scratch, path, ours, theirs, limits), isWhole: true };
    } finally {
      // A killed git process may still be writing.
      await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
    }
  };
  return tries({ directory: path, of: [ours, theirs], walk });
}

async function mergeInto(objects: string, path: string, ours: string, theirs: string, limits: typeof LIMITS): Promise<Merged> {
  const full = new AbortController();
  const look = async () => {
    const { bytes } = await countObjects(path, objects).catch(() => ({ bytes: 0 }));
    if (bytes > limits.maxBytes) full.abort();
  };
  const timer = setInterval(look, limits.lookMs);
  try {
    return await merge(path, ours, theirs, { env: quarantined(path, objects), signal: full.signal });
  } catch (error) {
    throw full.signal.aborted ? new RanOutOfTime(error) : error;
  } finally {
    clearInterval(timer);
  }
}

type MergeOptions = Pick<GitOptions, "env" | "signal">;

async function merge(path: string, ours: string, theirs: string, options: MergeOptions): Promise<Merged> {
  await requireMergeTree(path);
  if (!(await haveCommonHistory(path, ours, theirs))) return { outcome: "unrelated" };
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--end-of-options", ours, theirs];
  // With conflicts, git exits with 1 and names the files after the tree.
  const output = await runWalkGit(path, args, { ...options, acceptedStatuses: [0, 1] });
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

let isGitNewEnough = false;

async function requireMergeTree(path: string): Promise<void> {
  isGitNewEnough ||= isNewEnough((await runGit(path, ["version"])).toString("utf8"));
  if (isGitNewEnough) return;
  throw new ServiceError("unavailable", "Merging requires git 2.38 or later on the server. Ask the operator to update it.");
}

export function isNewEnough(version: string): boolean {
  const [, major = 0, minor = 0] = /(?<!\d)(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  return major > 2 || (major === 2 && minor >= 38);
}

function unique(files: string[]): string[] {
  let left = NAMES_MAX_CHARACTERS;
  const shown = [...new Set(files)].slice(0, FILES_MAX).map((file) => startOf(file, PATH_MAX_BYTES));
  return shown.filter((file) => {
    left -= file.length;
    return left >= 0;
  });
}
