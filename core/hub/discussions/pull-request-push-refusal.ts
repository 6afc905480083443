import type { Actor } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import { db } from "../../db.ts";
import { type Repo, repoResource } from "../repos/repo.ts";

/**
 * Why an actor may not push to `refs/pr/<num>`, as a sentence for them; null when they may. Its author and those who may write to the
 * repository may push while it exists and is not merged. The repository's own policy (read-only, size limits) is not checked here.
 */
export async function pullRequestPushRefusal(actor: Actor, repo: Repo, num: number): Promise<string | null> {
  const row = await db().discussion.findUnique({
    where: { repoId_num: { repoId: repo.id, num } },
    select: { isPullRequest: true, status: true, authorId: true },
  });
  if (!row?.isPullRequest) return `There is no pull request ${num}. Open one first, then push to its ref.`;
  const resource = repoResource(repo);
  const isAllowed =
    (await may(actor, "repo.write", resource)) ||
    (await may(actor, "discussion.update", { repo: resource, authorId: row.authorId }));
  if (!isAllowed) return `You cannot push to pull request ${num}.`;
  return row.status === "merged" ? `Pull request ${num} is merged. Open another one.` : null;
}
