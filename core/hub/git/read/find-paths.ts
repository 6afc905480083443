import { ServiceError } from "../../../errors.ts";
import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import { describeEntry, type Entry } from "./entry.ts";
import { findEntry } from "./find-entry.ts";
import { TooMuchToRead, withObjects } from "./git-objects.ts";
import { withLastCommits } from "./list-tree.ts";
import { resolveRevision } from "./revision.ts";

/** How many paths may be requested at once. */
export const PATHS_MAX = 1_000;

/**
 * What is at each of some paths of a revision; paths where nothing is are left out.
 * @throws ServiceError `not_found` (RevisionNotFound), `payload_too_large` for paths whose folders are too large together
 */
export async function findPaths(
  repo: Repo,
  { revision: name, paths, isExpanded = false }: { revision: string; paths: readonly string[]; isExpanded?: boolean },
): Promise<Entry[]> {
  const directory = await openRepository(repo);
  const { sha, entries } = await withObjects(directory, async (objects) => {
    const { sha } = await resolveRevision(objects, repo, name);
    const entries: Entry[] = [];
    if (sha === null) return { sha, entries };
    for (const path of new Set(paths.slice(0, PATHS_MAX))) {
      const entry = await findEntry(objects, sha, path);
      if (entry && entry !== "root") entries.push(await describeEntry(objects, entry, path));
    }
    return { sha, entries };
  }).catch((error: unknown) => {
    throw error instanceof TooMuchToRead ? new ServiceError("payload_too_large", error.message, { cause: error }) : error;
  });
  return isExpanded && sha !== null ? withLastCommits(directory, sha, "", entries) : entries;
}
