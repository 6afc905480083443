import type { Actor } from "../../access/actor.ts";
import { changeDiscussion, requireWriting, type ToChange } from "./change-discussion.ts";
import { countContribution } from "./count-contribution.ts";
import type { Comment } from "./discussion.ts";
import type { DiscussionName } from "./find-discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { parseComment } from "./parse-text.ts";
import { readComment } from "./read-timeline.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/** @throws ServiceError `invalid_request`, `not_found`, `unauthorized`, `insufficient_scope`, `forbidden` (locked), `rate_limited` */
export async function addComment(actor: Actor, name: DiscussionName, input: { comment: unknown }): Promise<Comment> {
  const content = parseComment(input.comment);
  await countContribution(actor, "comment");
  return changeDiscussion(actor, name, async (to) => {
    await requireWriting(to);
    return insertComment(to, content);
  });
}

/** Does not check permissions. */
export async function insertComment({ tx, actor, actorId, repo, discussion }: ToChange, content: string): Promise<Comment> {
  const [row] = await insertEvents(tx, discussion.id, [{ type: "comment", authorId: actorId, content }]);
  if (!row) throw new Error("no comment was written");
  await tx.discussion.update({
    where: { id: discussion.id },
    data: { commentCount: { increment: 1 }, updatedAt: row.createdAt },
  });
  await recordDiscussionEvent(tx, { repo, discussion, actorId }, { scope: "discussion.comment", action: "create", comment: row });
  return readComment(tx, row, actor);
}
