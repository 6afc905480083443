import { walks } from "../queues.ts";
import { GitFailed, runGit } from "../run-git.ts";
import type { Change } from "./build-commit.ts";
import type { Collected } from "./collect-changes.ts";
import { lfsAttributeLine, readLfsFilters } from "./lfs-paths.ts";
import type { Import } from "./start-import.ts";

const ATTRIBUTES_MAX_BYTES = 1024 * 1024;
const LINE_MAX_BYTES = 2_048;

/**
 * The changes of a commit. If it puts Git LFS files at paths that no .gitattributes assigns to Git LFS, a .gitattributes that does is
 * added: otherwise a clone would have the pointers instead of the files.
 * @param within the repository's path
 * @throws ServiceError `unavailable` when no slot for a walk was free in time, or its patterns take too long
 */
export async function addLfsAttributes(
  { changes, lfsPaths, rootAttributes }: Collected,
  { git, gitDirectory, parent, within }: { git: Import; gitDirectory: string; parent: string | null; within: string },
): Promise<readonly Change[]> {
  if (lfsPaths.length === 0) return changes;
  const filters = await walks.run(() => readLfsFilters(gitDirectory, lfsPaths, { commit: parent, rootAttributes }), { within });
  const lines = [...new Set(lfsPaths.filter((path) => filters.get(path) !== "lfs").map(lfsAttributeLine))];
  const readable = lines.filter((line) => Buffer.byteLength(line) < LINE_MAX_BYTES);
  if (readable.length === 0) return changes;
  const present = Buffer.from(rootAttributes ?? (await readRootAttributes(gitDirectory, parent)));
  const separator = present.length > 0 && present.at(-1) !== 0x0a ? "\n" : "";
  const added = Buffer.concat([present, Buffer.from(`${separator}${readable.join("\n")}\n`)]);
  if (added.length > ATTRIBUTES_MAX_BYTES) return changes;
  return [...changes, { kind: "put", path: ".gitattributes", blob: await git.writeBlob(added) }];
}

async function readRootAttributes(gitDirectory: string, commit: string | null): Promise<Uint8Array> {
  if (!commit) return new Uint8Array();
  try {
    return await runGit(gitDirectory, ["cat-file", "blob", `${commit}:.gitattributes`]);
  } catch (error) {
    if (error instanceof GitFailed && error.status === 128) return new Uint8Array();
    throw error;
  }
}
