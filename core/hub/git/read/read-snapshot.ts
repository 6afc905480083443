import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import { type GitObjects, TooMuchToRead, withObjects } from "./git-objects.ts";
import { type Found, walkTree } from "./list-tree.ts";
import { resolveRevision } from "./revision.ts";
import { describeEntry, type Entry } from "./tree-entries.ts";

/** One more than existing clients accept. They then request the tree page by page. */
const FILES_MAX = 50_001;
const ENTRIES_MAX = 150_000;
const DESCRIBED_AT_ONCE = 1_000;
const COMMIT_MAX_BYTES = 1024 * 1024;

export type Snapshot = {
  ref: string | null;
  sha: string | null;
  committedAt: Date | null;
  /** Null if they were not requested or the tree is too large. At most `FILES_MAX`. */
  files: (Pick<Entry, "path"> & Partial<Entry>)[] | null;
};

export async function readSnapshot(
  repo: Repo,
  revision: string,
  { files }: { files: "none" | "names" | "sizes" },
): Promise<Snapshot> {
  return withObjects(await openRepository(repo), async (objects) => {
    const { sha, ref } = await resolveRevision(objects, repo, revision);
    if (sha === null) return { ref, sha, committedAt: null, files: files === "none" ? null : [] };
    const leaves = files === "none" ? null : await findLeaves(objects, sha);
    return {
      ref,
      sha,
      committedAt: await commitTime(objects, sha),
      files: leaves && files === "sizes" ? await describeAll(objects, leaves) : (leaves?.map(({ path }) => ({ path })) ?? null),
    };
  });
}

async function findLeaves(objects: GitObjects, sha: string): Promise<Found[] | null> {
  try {
    const found = await walkTree(objects, sha, { prefix: "", isRecursive: true, max: ENTRIES_MAX });
    return found.filter(({ entry }) => entry.type !== "directory").slice(0, FILES_MAX);
  } catch (error) {
    if (error instanceof TooMuchToRead) return null;
    throw error;
  }
}

/** Works in portions, so that other requests get their turn, and git's input does not stay in memory. */
async function describeAll(objects: GitObjects, leaves: readonly Found[]): Promise<Entry[]> {
  const described: Entry[] = [];
  for (let at = 0; at < leaves.length; at += DESCRIBED_AT_ONCE) {
    const some = leaves.slice(at, at + DESCRIBED_AT_ONCE);
    described.push(...(await Promise.all(some.map(({ entry, path }) => describeEntry(objects, entry, path)))));
  }
  return described;
}

async function commitTime(objects: GitObjects, sha: string): Promise<Date | null> {
  const commit = await objects.read(sha, COMMIT_MAX_BYTES);
  const [, seconds] = /^committer .* (\d{1,12}) [+-]\d{4}$/m.exec(commit?.bytes.toString("latin1") ?? "") ?? [];
  return seconds === undefined ? null : new Date(Number(seconds) * 1000);
}
