import { gitLines, runGit } from "../git/run-git.ts";
import type { LfsObjectId } from "./lfs-object.ts";
import { missingLfsObjects } from "./objects/find-lfs-object.ts";
import { LFS_POINTER_MAX_BYTES, parseLfsPointer } from "./parse-lfs-pointer.ts";

/** `version`, `oid` and `size` take more. */
const POINTER_MIN_BYTES = 100;
/** Of one run of git, whose output is then some 2 MB. */
const BLOBS_AT_ONCE = 2_000;
const LIST_TIMEOUT_MS = 300_000;

/** When so many are missing, no more are looked for. */
export const MISSING_ENOUGH = 1_000;

/** A file in git that stands for an object which its repository does not have. */
export type MissingPointer = LfsObjectId & { blob: string };

/**
 * The pointers among objects that have arrived by a push, and lie apart yet, whose content was not uploaded before: whoever checked
 * them out would get nothing.
 * @param quarantine the folder in which git keeps what has arrived
 */
export async function findMissingPointers(path: string, quarantine: string, repoId: string): Promise<MissingPointer[]> {
  const found: MissingPointer[] = [];
  for await (const blobs of listSmallBlobs(path, quarantine)) {
    const pointers = await readPointers(path, quarantine, blobs);
    const missing = new Set((await missingLfsObjects(repoId, pointers)).map(({ oid, size }) => `${oid} ${size}`));
    found.push(...pointers.filter(({ oid, size }) => missing.has(`${oid} ${size}`)));
    if (found.length >= MISSING_ENOUGH) break;
  }
  return found;
}

/** Some at a time: a push may bring a million (judge-arrival.ts), whose names neither fill memory nor hold up others (S137). */
async function* listSmallBlobs(path: string, quarantine: string): AsyncGenerator<string[]> {
  let blobs: string[] = [];
  const output = gitLines(
    path,
    ["cat-file", "--batch-all-objects", "--unordered", "--buffer", "--batch-check=%(objecttype) %(objectsize) %(objectname)"],
    { env: { GIT_OBJECT_DIRECTORY: quarantine }, timeoutMs: LIST_TIMEOUT_MS },
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

async function readPointers(path: string, quarantine: string, blobs: readonly string[]): Promise<MissingPointer[]> {
  const output = await runGit(path, ["cat-file", "--buffer", "--batch"], {
    input: `${blobs.join("\n")}\n`,
    env: { GIT_OBJECT_DIRECTORY: quarantine },
  });
  const found: MissingPointer[] = [];
  // Each is `<name> blob <size>`, a line feed, its bytes, and a line feed.
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
