import type { Db } from "../../db.ts";
import { recordEvent } from "../../events/record-event.ts";
import { type Repo, repoPayload } from "../repos/repo.ts";
import type { DiscussionRow } from "./discussion.ts";
import { commentPayload, discussionPayload } from "./discussion-payload.ts";

export type RecordedComment = { id: string; authorId: string | null; content: string | null; isHidden: boolean };

type Happened =
  | { scope: "discussion"; action: "create"; comment?: RecordedComment }
  | { scope: "discussion"; action: "update" | "delete" }
  | { scope: "discussion.comment"; action: "create" | "update" | "delete"; comment: RecordedComment };

/** Records a change of a discussion in its current state, in the transaction of the change. */
export async function recordDiscussionEvent(
  tx: Db,
  { repo, discussion, actorId }: { repo: Repo; discussion: DiscussionRow; actorId: string | null },
  happened: Happened,
): Promise<void> {
  const about = { repo: repoPayload(repo, { isContent: false }), discussion: discussionPayload(repo, discussion) };
  if (happened.scope === "discussion.comment") {
    const { scope, action } = happened;
    const comment = commentPayload(repo, discussion, happened.comment);
    await recordEvent(tx, { payload: { event: { scope, action }, ...about, comment }, actorId });
  } else if (happened.action === "create") {
    const comment = happened.comment && { comment: commentPayload(repo, discussion, happened.comment) };
    await recordEvent(tx, { payload: { event: { scope: "discussion", action: "create" }, ...about, ...comment }, actorId });
  } else {
    await recordEvent(tx, { payload: { event: { scope: "discussion", action: happened.action }, ...about }, actorId });
  }
}
