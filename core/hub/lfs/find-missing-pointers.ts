import { type GitOptions, gitLines, runGit } from "../git/run-git.ts";
import type { LfsObjectId } from "./lfs-object.ts";
import { findLfsObjects } from "./objects/find-lfs-object.ts";
import { LFS_POINTER_MAX_BYTES, parseLfsPointer } from "./parse-lfs-pointer.ts";
import { POINTERS_MAX } from "./proposals/proposed-files.ts";

/** The shortest possible `version`, `oid` and `size` have more bytes. */
const POINTER_MIN_BYTES = 100;
const BLOBS_AT_ONCE = 2_000;
const LIST_TIMEOUT_MS = 300_000;
const LIMITS = { isLimited: true, niceness: 10, cpuSeconds: 60 } as const;

/** The search ends after this many missing pointers, or when more pointers name proposed files (S149) than a user may have. */
export const MISSING_MAX = 1_000;

type Pointer = LfsObjectId & { blob: string };

export async function findMissingPointers(
  path: string,
  quarantine: string,
  { repoId, storeId }: { repoId: string; storeId?: string | undefined },
): Promise<{ missing: Pointer[]; proposed: Pointer[] }> {
  const [missing, proposed]: [Pointer[], Pointer[]] = [[], []];
  for await (const pointers of findPointers(path, quarantine)) {
    const oids = [...new Set(pointers.map(({ oid }) => oid))];
    const objects = await findLfsObjects(storeId === undefined ? repoId : [repoId, storeId], oids);
    for (const pointer of pointers) {
      const object = objects.get(pointer.oid);
      if (object?.size !== pointer.size) missing.push(pointer);
      else if (object.holderId !== repoId) proposed.push(pointer);
    }
    if (missing.length >= MISSING_MAX || proposed.length > POINTERS_MAX) break;
  }
  return { missing, proposed };
}

export async function* findPointers(path: string, quarantine: string, limits: Limits = LIMITS): AsyncGenerator<Pointer[]> {
  for await (const blobs of listSmallBlobs(path, quarantine, limits)) yield await readPointers(path, quarantine, blobs, limits);
}

type Limits = Pick<GitOptions, "timeoutMs" | "isLimited" | "niceness" | "cpuSeconds">;

/** Yields batches, because the names of a push's million objects must not fill memory (S137). */
async function* listSmallBlobs(path: string, quarantine: string, limits: Limits): AsyncGenerator<string[]> {
  let blobs: string[] = [];
  const output = gitLines(
    path,
    ["cat-file", "--batch-all-objects", "--unordered", "--buffer", "--batch-check=%(objecttype) %(objectsize) %(objectname)"],
    { timeoutMs: LIST_TIMEOUT_MS, ...limits, env: { GIT_OBJECT_DIRECTORY: quarantine } },
  );
  for await (const lines of output) {
    for (const line of lines) {
      const [type, size, name] = line.split(" ");
      if (type === "blob" && name && Number(size) >= POINTER_MIN_BYTES && Number(size) <= LFS_POINTER_MAX_BYTES) blobs.push(name);
    }
    if (blobs.length < BLOBS_AT_ONCE) continue;
    yield blobs;
    blobs = [];
  }
  if (blobs.length > 0) yield blobs;
}

async function readPointers(path: string, quarantine: string, blobs: readonly string[], limits: Limits): Promise<Pointer[]> {
  const output = await runGit(path, ["cat-file", "--buffer", "--batch"], {
    ...limits,
    input: `${blobs.join("\n")}\n`,
    env: { GIT_OBJECT_DIRECTORY: quarantine },
  });
  const found: Pointer[] = [];
  // Each object is `<name> blob <size>`, a line feed, the content, and a line feed.
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0x0a, at);
    const [blob = "", , size] = output.toString("latin1", at, end).split(" ");
    const content = output.subarray(end + 1, end + 1 + Number(size));
    const pointer = parseLfsPointer(content);
    if (pointer) found.push({ ...pointer, blob });
    at = end + 1 + Number(size) + 1;
  }
  return found;
}
