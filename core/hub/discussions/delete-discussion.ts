import { type Actor, type ActorNow, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { conflict } from "../../errors.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { resolveRef, updateRefs } from "../git/refs/git-refs.ts";
import { type PermissionCheck, recheckPermission, requireChangeable } from "../git/refs/require-changeable.ts";
import { openRepository } from "../git/repository.ts";
import { releaseFiles } from "../lfs/proposals/proposed-files.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import { changeDiscussion, requireModerating, subjectOf } from "./change-discussion.ts";
import { type DiscussionRow, pullRequestRef } from "./discussion.ts";
import { type DiscussionName, findDiscussion } from "./find-discussion.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/** Deletes the commits first, so that the caller can retry. */
export async function deleteDiscussion(
  actor: Actor,
  name: DiscussionName,
  from: RequestOrigin,
  actorNow: ActorNow = async () => actor,
): Promise<void> {
  const { repo, discussion } = await findDiscussion(actor, name);
  const ask = (now: Actor, current: Repo) =>
    requirePermission(now, "discussion.moderate", repoResource(current), { what: "Discussion" });
  await ask(actor, repo);
  if (discussion.isPullRequest) await removePullRequestRef(actorNow, repo, discussion.num, ask);
  await changeDiscussion(actor, name, async (to) => {
    await requireModerating(to);
    const { tx, actorId, discussion: row } = to;
    await deleteDiscussionRow(tx, to);
    await recordAuditEvent(tx, {
      type: "discussion.delete",
      actorId,
      clientId: clientIdOf(actor),
      owner: to.repo.owner,
      subjectId: await subjectOf(to, row.authorId),
      data: { repo: to.repo.fullName, type: to.repo.type, num: row.num, title: row.title },
      from,
    });
  });
}

export async function deleteDiscussionRow(
  tx: Db,
  { repo, discussion, actorId }: { repo: Repo; discussion: DiscussionRow; actorId: string | null },
): Promise<void> {
  await releaseFiles(tx, repo.id, [discussion.num]);
  const { count } = await tx.discussion.deleteMany({ where: { id: discussion.id } });
  if (count > 0) await recordDiscussionEvent(tx, { repo, discussion, actorId }, { scope: "discussion", action: "delete" });
}

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
  if (!discussion.isPullRequest) throw conflict("Only a pull request has commits of its own.");
  if (discussion.status === "open" || discussion.status === "draft") throw conflict("Close the pull request first.");
  const isDeleted = await removePullRequestRef(actorNow, repo, discussion.num, ask);
  if (!isDeleted) throw conflict("The commits of this pull request are already deleted.");
}

async function removePullRequestRef(actorNow: ActorNow, repo: Repo, num: number, ask: PermissionCheck): Promise<boolean> {
  const path = await openRepository(repo);
  const ref = pullRequestRef(num);
  for (let attempt = 0; attempt < 3; attempt++) {
    const oldSha = await resolveRef(path, ref);
    if (!oldSha) return false;
    const actor = await recheckPermission(repo, actorNow, ask);
    const change = { ref, oldSha, newSha: null };
    if (await changeRefs(repo, actor, [change], () => updateRefs(path, [change]))) return true;
  }
  throw conflict("Somebody is pushing to this pull request. Try again in a moment.");
}
