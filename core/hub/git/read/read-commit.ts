import { notFound } from "../../../errors.ts";
import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import type { Commit } from "./commit.ts";
import type { Diff } from "./diff.ts";
import { withObjects } from "./git-objects.ts";
import { logCommits } from "./list-commits.ts";
import { EMPTY_TREE, readDiff } from "./read-diff.ts";
import { resolveRevision } from "./revision.ts";

/**
 * One commit with its changes, compared with its first parent if it has several.
 * @param withLines whether the lines are read too: they are content, which not everybody who sees the names may see
 * @throws ServiceError `not_found` (RevisionNotFound)
 */
export async function readCommit(
  repo: Repo,
  revision: string,
  { withLines = true }: { withLines?: boolean } = {},
): Promise<{ commit: Commit; diff: Diff }> {
  const directory = await openRepository(repo);
  const { sha } = await withObjects(directory, (objects) => resolveRevision(objects, repo, revision));
  if (sha === null) throw notFound("Revision");
  const [commit] = await logCommits(directory, ["--max-count=1", "--end-of-options", sha]);
  if (!commit) throw notFound("Revision");
  return { commit, diff: await readDiff(directory, commit.parents[0] ?? EMPTY_TREE, sha, { withLines }) };
}
