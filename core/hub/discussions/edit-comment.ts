import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { ServiceError } from "../../errors.ts";
import { repoResource } from "../repos/repo.ts";
import { changeDiscussion, requireUnlocked } from "./change-discussion.ts";
import { countContribution } from "./count-contribution.ts";
import type { Comment } from "./discussion.ts";
import { findComment } from "./find-comment.ts";
import type { DiscussionName } from "./find-discussion.ts";
import { parseComment } from "./parse-text.ts";
import { readComment } from "./read-timeline.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/**
 * Changes the text of one's own comment.
 * @throws ServiceError `invalid_request`, `not_found`, `forbidden` (somebody else's, locked), `conflict` (hidden), `rate_limited`
 */
export async function editComment(
  actor: Actor,
  name: DiscussionName,
  commentId: string,
  input: { content: unknown },
): Promise<Comment> {
  const content = parseComment(input.content, "content");
  await countContribution(actor, "comment");
  return changeDiscussion(actor, name, async (to) => {
    const { tx, repo, discussion, actorId } = to;
    const comment = await findComment(tx, discussion, commentId);
    const contribution = { repo: repoResource(repo), authorId: comment.authorId };
    await requirePermission(actor, "discussion.edit_comment", contribution, { what: "Comment", tx });
    await requireUnlocked(to);
    if (comment.isHidden) throw new ServiceError("conflict", "This comment is hidden. Write another one.");
    if (comment.content === content) return readComment(tx, comment, actor);
    const row = await tx.discussionEvent.update({
      where: { id: comment.id },
      data: { content, editCount: { increment: 1 }, editedAt: new Date() },
    });
    const event = { scope: "discussion.comment", action: "update", comment: row } as const;
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, event);
    return readComment(tx, row, actor);
  });
}
