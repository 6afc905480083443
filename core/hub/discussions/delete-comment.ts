import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { repoResource } from "../repos/repo.ts";
import { changeDiscussion } from "./change-discussion.ts";
import { findComment } from "./find-comment.ts";
import type { DiscussionName } from "./find-discussion.ts";
import { recordCommentModeration } from "./record-comment-moderation.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/**
 * Deletes a comment, one's own or, as a moderator, anybody's. Nothing of it stays, whereas a hidden comment remains visible as such. The
 * event names the comment and does not repeat its text.
 * @throws ServiceError `not_found`, `unauthorized`, `insufficient_scope`, `forbidden`
 */
export async function deleteComment(actor: Actor, name: DiscussionName, commentId: string, from: RequestOrigin): Promise<void> {
  await changeDiscussion(actor, name, async (to) => {
    const { tx, repo, discussion, actorId } = to;
    const comment = await findComment(tx, discussion, commentId);
    const contribution = { repo: repoResource(repo), authorId: comment.authorId };
    await requirePermission(actor, "discussion.update", contribution, { what: "Comment", tx });
    await tx.discussionEvent.delete({ where: { id: comment.id } });
    await tx.discussion.update({ where: { id: discussion.id }, data: { commentCount: { decrement: 1 } } });
    const event = { scope: "discussion.comment", action: "delete", comment: { ...comment, content: null } } as const;
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, event);
    await recordCommentModeration(to, "discussion.delete_comment", comment, from);
  });
}
