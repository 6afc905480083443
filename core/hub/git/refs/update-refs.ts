import { ServiceError } from "../../../errors.ts";
import { GitFailed, runGit } from "../run-git.ts";
import type { RefChange } from "./ref-change.ts";

const ABSENT = "0".repeat(40);
// Git's messages for a ref that does not have the expected value, or that somebody else is changing now.
const MOVED = /is at [0-9a-f]{40} but expected|reference already exists|unable to resolve reference|Unable to create /;
const CLASH = /'([^']+)' exists; cannot create/;

/**
 * Changes refs, all of them or none, each only if it still is at `oldSha`; to be called within `changeRefs`.
 * @returns the changes, or nothing when one of the refs has changed
 * @throws ServiceError `conflict` when two names cannot coexist (`a` and `a/b`)
 */
export async function updateRefs(path: string, changes: readonly RefChange[]): Promise<readonly RefChange[]> {
  const lines = changes.map(({ ref, oldSha, newSha }) =>
    newSha === null ? `delete ${ref}\0${oldSha ?? ABSENT}\0` : `update ${ref}\0${newSha}\0${oldSha ?? ABSENT}\0`,
  );
  try {
    await runGit(
      path,
      ["-c", "core.filesRefLockTimeout=2000", "-c", "core.fsync=reference", "update-ref", "--no-deref", "-z", "--stdin"],
      {
        input: lines.join(""),
      },
    );
    return changes;
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    const [, other] = CLASH.exec(error.stderr) ?? [];
    if (other) {
      throw new ServiceError(
        "conflict",
        `${other.replace(/^refs\/\w+\//, "")} exists, so that nothing can be named below or above it.`,
      );
    }
    if (MOVED.test(error.stderr)) return [];
    throw error;
  }
}
