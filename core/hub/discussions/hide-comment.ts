import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { repoResource } from "../repos/repo.ts";
import { changeDiscussion } from "./change-discussion.ts";
import type { Comment } from "./discussion.ts";
import { findComment } from "./find-comment.ts";
import type { DiscussionName } from "./find-discussion.ts";
import { readComment } from "./read-timeline.ts";
import { recordCommentModeration } from "./record-comment-moderation.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/**
 * Hides a comment for good, one's own or, as a moderator, anybody's: it remains visible that there was one, but nobody sees its text.
 * @throws ServiceError `not_found`, `unauthorized`, `insufficient_scope`, `forbidden`
 */
export async function hideComment(actor: Actor, name: DiscussionName, commentId: string, from: RequestOrigin): Promise<Comment> {
  return changeDiscussion(actor, name, async (to) => {
    const { tx, repo, discussion, actorId } = to;
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
    await recordCommentModeration(to, "discussion.hide_comment", comment, from);
    return readComment(tx, row, actor);
  });
}
