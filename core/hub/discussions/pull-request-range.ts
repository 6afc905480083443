import { db } from "../../db.ts";
import { resolveRef } from "../git/refs/resolve-ref.ts";
import { openRepository } from "../git/repository.ts";
import type { Repo } from "../repos/repo.ts";
import { type Discussion, pullRequestRef } from "./discussion.ts";
import type { MergedCommits } from "./set-status.ts";

/** The commits between which a pull request's changes lie; `baseSha` is null if it proposes the repository's first commit. */
export type PullRequestRange = MergedCommits;

/**
 * What a pull request proposes, or proposed when it was merged: the commits of its head since the merge base.
 * @returns undefined when its commits were deleted or never pushed
 */
export async function pullRequestRange(
  repo: Repo,
  { id, num, status, baseRef }: Pick<Discussion, "id" | "num" | "status" | "baseRef">,
): Promise<PullRequestRange | undefined> {
  if (status === "merged") return mergedRange(id);
  const path = await openRepository(repo);
  const [headSha, baseSha] = await Promise.all([
    resolveRef(path, pullRequestRef(num)),
    baseRef ? resolveRef(path, baseRef) : null,
  ]);
  return headSha ? { headSha, baseSha } : undefined;
}

async function mergedRange(discussionId: string): Promise<PullRequestRange | undefined> {
  const event = await db().discussionEvent.findFirst({
    where: { discussionId, type: "status-change" },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    select: { data: true },
  });
  const { headSha, baseSha } = (event?.data ?? {}) as Partial<MergedCommits>;
  return headSha ? { headSha, baseSha: baseSha ?? null } : undefined;
}
