import type { Actor, ActorNow } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { ServiceError } from "../../errors.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { type Ask, askAgain, requireChangeable } from "../git/refs/require-changeable.ts";
import { resolveRef } from "../git/refs/resolve-ref.ts";
import { updateRefs } from "../git/refs/update-refs.ts";
import { openRepository } from "../git/repository.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import { pullRequestRef } from "./discussion.ts";
import { type DiscussionName, findDiscussion } from "./find-discussion.ts";

/**
 * Deletes the commits of a closed or merged pull request; the discussion of them stays.
 * @param actorNow resolves the actor again just before the refs change (S114)
 * @throws ServiceError `not_found`, `unauthorized`, `insufficient_scope`, `forbidden`, `conflict` (it is open, or they are gone already)
 */
export async function deletePullRequestRef(
  actor: Actor,
  name: DiscussionName,
  actorNow: ActorNow = async () => actor,
): Promise<void> {
  const { repo, discussion } = await findDiscussion(actor, name);
  const ask = async (now: Actor, current: Repo) => {
    const contribution = { repo: repoResource(current), authorId: discussion.authorId };
    await requirePermission(now, "discussion.update", contribution, { what: "Discussion" });
    requireChangeable(current);
  };
  await ask(actor, repo);
  if (!discussion.isPullRequest) throw new ServiceError("conflict", "Only a pull request has commits of its own.");
  if (discussion.status === "open" || discussion.status === "draft") throw new ServiceError("conflict", "Close it first.");
  const isDeleted = await removePullRequestRef(actorNow, repo, discussion.num, ask);
  if (!isDeleted) throw new ServiceError("conflict", "Its commits are deleted already.");
}

/**
 * @param ask checks the permission just before the ref is deleted
 * @returns whether the ref existed
 */
export async function removePullRequestRef(actorNow: ActorNow, repo: Repo, num: number, ask: Ask): Promise<boolean> {
  const path = await openRepository(repo);
  const ref = pullRequestRef(num);
  // If somebody pushes to it meanwhile, the next attempt deletes what they pushed.
  for (let attempt = 0; attempt < 3; attempt++) {
    const oldSha = await resolveRef(path, ref);
    if (!oldSha) return false;
    const actor = await askAgain(repo, actorNow, ask);
    const change = { ref, oldSha, newSha: null };
    if (await changeRefs(repo, actor, [change], () => updateRefs(path, [change]))) return true;
  }
  throw new ServiceError("conflict", "Somebody is pushing to it. Try again.");
}
