import type { Actor, ActorNow } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { askAgain, requireChangeable } from "../git/refs/require-changeable.ts";
import { resolveRef } from "../git/refs/resolve-ref.ts";
import { updateRefs } from "../git/refs/update-refs.ts";
import { openRepository } from "../git/repository.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import { insertComment } from "./add-comment.ts";
import { changeDiscussion } from "./change-discussion.ts";
import { isAncestor } from "./commits.ts";
import { countContribution } from "./count-contribution.ts";
import { type Discussion, pullRequestRef } from "./discussion.ts";
import { type DiscussionName, findDiscussion } from "./find-discussion.ts";
import { requireRoom } from "./insert-events.ts";
import { mergeCommit } from "./merge-commit.ts";
import { parseDescription } from "./parse-text.ts";
import { type MergedCommits, setStatus } from "./set-status.ts";

export type MergeInput = {
  /** Added to the pull request once it is merged. */
  comment?: unknown;
  /** The commit that the merging user has seen: nothing else is merged. */
  headSha?: string | undefined;
  /** Moves the branch to the pull request's commits instead of creating a merge commit, if the branch has no commits of its own. */
  isFastForward?: boolean | undefined;
};

const ATTEMPTS = 4;

/**
 * Merges a pull request into its base: one change of content, with the pull request's own change, which `followRefChanges` finds in the
 * same transaction. The branch moves only if neither it nor the pull request has changed since the merge commit was made; otherwise all
 * of it is tried again.
 * @param actorNow resolves the actor again just before the refs change (S114)
 * @returns the commit that the base is at now
 * @throws ServiceError `not_found`, `unauthorized`, `insufficient_scope`, `forbidden`, `conflict` with the reason
 */
export async function mergePullRequest(
  actor: Actor,
  name: DiscussionName,
  input: MergeInput = {},
  actorNow: ActorNow = async () => actor,
): Promise<string> {
  const { repo, discussion } = await findDiscussion(actor, name);
  const ask = async (now: Actor, current: Repo) => {
    await requirePermission(now, "discussion.merge", repoResource(current), { what: "Discussion" });
    requireChangeable(current);
  };
  await ask(actor, repo);
  const comment = parseDescription(input.comment, "comment");
  if (comment) {
    await countContribution(actor, "comment");
    await requireRoom(db(), discussion.id);
  }
  const path = await openRepository(repo);
  const headRef = pullRequestRef(discussion.num);
  const baseRef = requireMergeable(discussion);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [headSha, baseSha] = await Promise.all([resolveRef(path, headRef), resolveRef(path, baseRef)]);
    if (!headSha) throw new ServiceError("conflict", "It has no commits to merge.");
    if (input.headSha && input.headSha !== headSha) {
      throw new ServiceError("conflict", "Commits were pushed to it since you looked. Look again before you merge.");
    }
    if (!baseSha && baseRef !== `refs/heads/${repo.defaultBranch}`) {
      throw new ServiceError("conflict", "The branch that it is for is gone.");
    }
    if (baseSha && (await isAncestor(path, headSha, baseSha))) {
      throw new ServiceError("conflict", "Its base has all of its commits already.");
    }
    const isForward = !baseSha || (input.isFastForward === true && (await isAncestor(path, baseSha, headSha)));
    if (input.isFastForward && !isForward) {
      throw new ServiceError("conflict", "Its base has commits of its own: only a merge commit can bring the two together.");
    }
    const newSha = isForward ? headSha : await mergeCommit(path, actor, discussion, { baseSha, headSha });
    await askAgain(repo, actorNow, ask);
    const change = { ref: baseRef, oldSha: baseSha, newSha };
    // The change also requires that the pull request's own ref stays the same.
    const asMerged = { ref: headRef, oldSha: headSha, newSha: headSha };
    const changed = await changeRefs(repo, actor, [change], async () =>
      (await updateRefs(path, [change, asMerged])).filter(({ ref }) => ref === baseRef),
    );
    if (!changed) continue;
    await finish(actor, name, { newSha, comment, merged: { headSha, baseSha } });
    return newSha;
  }
  throw new ServiceError("conflict", "Its base keeps moving. Try again in a moment.");
}

function requireMergeable({ isPullRequest, status, baseRef }: Discussion): string {
  if (!isPullRequest || !baseRef) throw new ServiceError("conflict", "Only a pull request can be merged.");
  if (status === "merged") throw new ServiceError("conflict", "It is merged already.");
  if (status === "draft") throw new ServiceError("conflict", "It is a draft. Open it for review first.");
  if (status === "closed") throw new ServiceError("conflict", "It is closed. Reopen it first.");
  return baseRef;
}

/** Adds the comment; and if somebody closed it or pushed to it at this very moment, records that it is merged all the same. */
async function finish(
  actor: Actor,
  name: DiscussionName,
  { newSha, comment, merged }: { newSha: string; comment: string; merged: MergedCommits },
): Promise<void> {
  await changeDiscussion(actor, name, async (to) => {
    const { tx, repo, actorId } = to;
    if (to.discussion.status !== "merged") {
      const discussion = await tx.discussion.update({ where: { id: to.discussion.id }, data: { mergeCommitSha: newSha } });
      await setStatus(tx, { repo, discussion, actorId }, "merged", merged);
    }
    if (comment) await insertComment(to, comment);
  });
}
