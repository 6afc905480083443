import { type Actor, type ActorNow, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import { changeDiscussion, requireModerating } from "./change-discussion.ts";
import { deleteDiscussionRow } from "./delete-discussion-row.ts";
import { removePullRequestRef } from "./delete-pull-request-ref.ts";
import { type DiscussionName, findDiscussion } from "./find-discussion.ts";

/**
 * Deletes a discussion with everything in it, and the commits of a pull request. The commits are deleted first: if that fails, they must
 * not become unreachable.
 * @param actorNow resolves the actor again just before the refs change (S114)
 * @throws ServiceError `not_found`, `unauthorized`, `insufficient_scope`, `forbidden`
 */
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
      orgId: to.repo.owner.kind === "organization" ? to.repo.owner.id : null,
      subjectId: row.authorId,
      data: { repo: to.repo.fullName, type: to.repo.type, num: row.num, title: row.title },
      from,
    });
  });
}
