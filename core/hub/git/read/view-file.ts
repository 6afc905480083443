import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import type { CommitSummary } from "./commit.ts";
import { isText } from "./content-type.ts";
import { type FoundFile, findFile } from "./find-file.ts";
import { findLastCommits } from "./last-commits.ts";
import { EXTRA_MAX_MS, ifInTime } from "./walk.ts";

/** Larger texts are not shown on a page. */
export const VIEW_MAX_BYTES = 512 * 1024;

export type ViewedFile = FoundFile & {
  /** Null when none was found in time. */
  lastCommit: CommitSummary | null;
  /** Its content, if it is text that is small enough, is not in Git LFS, and may be read. */
  text: string | null;
  /** Whether it is text, as far as it was read. */
  isText: boolean;
  /** Whether the last commit is missing now and will be available soon. */
  isLate: boolean;
};

/**
 * A file for a page.
 * @param withContent whether the actor may read content; otherwise the file is only named
 * @throws ServiceError `not_found` (RevisionNotFound, EntryNotFound)
 */
export async function viewFile(
  repo: Repo,
  { revision, path, withContent }: { revision: string; path: string; withContent: boolean },
): Promise<ViewedFile> {
  const file = await findFile(repo, { revision, path, maxBytes: withContent ? VIEW_MAX_BYTES : 0 });
  const query = { folder: path, paths: [path], waitMaxMs: EXTRA_MAX_MS };
  const commits = await ifInTime(findLastCommits(await openRepository(repo), file.sha, query));
  const isReadable = file.bytes !== undefined && !file.entry.lfs && isText(file.bytes);
  return {
    ...file,
    lastCommit: commits.value?.get(path) ?? null,
    isLate: commits.isLate,
    text: isReadable ? (file.bytes as Buffer).toString("utf8").replace(/^\ufeff/, "") : null,
    isText: isReadable,
  };
}
