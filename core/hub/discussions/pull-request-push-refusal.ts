import type { Actor } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { type Repo, repoResource } from "../repos/repo.ts";

/**
 * Whether an actor may push to `refs/pr/<num>`: its author and whoever may change the repository, as long as it is there and not merged.
 * The repository's own policy (read-only, size limits) is not asked here.
 */
export async function mayPushToPullRequest(actor: Actor, repo: Repo, num: number, tx: Db = db()): Promise<boolean> {
  return (await pullRequestPushRefusal(actor, repo, num, tx)) === null;
}

/** The same, with the reason why not, in a sentence for whoever pushes; null when it is allowed. */
export async function pullRequestPushRefusal(actor: Actor, repo: Repo, num: number, tx: Db = db()): Promise<string | null> {
  const row = await tx.discussion.findUnique({
    where: { repoId_num: { repoId: repo.id, num } },
    select: { isPullRequest: true, status: true, authorId: true },
  });
  if (!row?.isPullRequest) return `There is no pull request ${num}. Open one first, then push to its ref.`;
  const resource = repoResource(repo);
  const isAllowed =
    (await may(actor, "repo.write", resource, tx)) ||
    (await may(actor, "discussion.update", { repo: resource, authorId: row.authorId }, tx));
  if (!isAllowed) return `Pull request ${num} is not yours to push to.`;
  return row.status === "merged" ? `Pull request ${num} is merged. Open another one.` : null;
}
