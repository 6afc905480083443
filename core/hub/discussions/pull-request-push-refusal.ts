import { type Actor, actorId } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import { db } from "../../db.ts";
import { type Repo, repoResource } from "../repos/repo.ts";

/** @returns a sentence for the actor, or null if the actor may push */
export async function pullRequestPushRefusal(actor: Actor, repo: Repo, num: number): Promise<string | null> {
  const row = await db().discussion.findUnique({
    where: { repoId_num: { repoId: repo.id, num } },
    select: { isPullRequest: true, status: true, authorId: true, isLocked: true },
  });
  if (!row?.isPullRequest) return `There is no pull request ${num}. Open one first, then push to its ref.`;
  const { authorId } = row;
  const resource = repoResource(repo);
  if (!(await may(actor, "repo.write", resource))) {
    // A maintainer with the scope for discussions may not push to other users' pull requests.
    const isAuthor = authorId !== null && authorId === actorId(actor);
    if (!isAuthor || !(await may(actor, "discussion.update", { repo: resource, authorId })))
      return `You cannot push to pull request ${num}. Open one of your own.`;
    if (row.isLocked) return `Pull request ${num} is locked. The repository's maintainers can unlock it.`;
  }
  return row.status === "merged" ? `Pull request ${num} is merged. Open another one.` : null;
}
