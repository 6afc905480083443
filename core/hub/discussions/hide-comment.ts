import { type Actor, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { repoResource } from "../repos/repo.ts";
import { changeDiscussion } from "./change-discussion.ts";
import type { Comment } from "./discussion.ts";
import { findComment } from "./find-comment.ts";
import type { DiscussionName } from "./find-discussion.ts";
import { readComment } from "./read-timeline.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/**
 * Hides a comment for good, one's own or, as a moderator, anybody's: that it was there stays visible, its words are shown to nobody.
 * @throws ServiceError `not_found`, `unauthorized`, `insufficient_scope`, `forbidden`
 */
export async function hideComment(actor: Actor, name: DiscussionName, commentId: string, from: RequestOrigin): Promise<Comment> {
  return changeDiscussion(actor, name, async ({ tx, repo, discussion, actorId }) => {
    const comment = await findComment(tx, discussion, commentId);
    const contribution = { repo: repoResource(repo), authorId: comment.authorId };
    await requirePermission(actor, "discussion.update", contribution, { what: "Comment", tx });
    if (comment.isHidden) return readComment(tx, comment, actor);
    const row = await tx.discussionEvent.update({
      where: { id: comment.id },
      data: { isHidden: true, hiddenById: actorId },
    });
    const event = { scope: "discussion.comment", action: "update", comment: row } as const;
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, event);
    if (comment.authorId !== actorId) {
      await recordAuditEvent(tx, {
        type: "discussion.hide_comment",
        actorId,
        clientId: clientIdOf(actor),
        orgId: repo.owner.kind === "organization" ? repo.owner.id : null,
        subjectId: comment.authorId,
        data: { repo: repo.fullName, type: repo.type, num: discussion.num, comment: comment.id },
        from,
      });
    }
    return readComment(tx, row, actor);
  });
}
