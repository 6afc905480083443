import { type EventPayload, repoApiPath, repoPath } from "@keyhook/sdk";
import type { Db } from "../../db.ts";
import { env } from "../../env.ts";
import { recordEvent } from "../../events/record-event.ts";
import { type Repo, repoPayload } from "../repos/repo.ts";
import type { DiscussionRow, DiscussionStatus } from "./discussion.ts";

type RecordedComment = { id: string; authorId: string | null; content: string | null; isHidden: boolean };

type DiscussionChange =
  | { scope: "discussion"; action: "create"; comment?: RecordedComment }
  | { scope: "discussion"; action: "update" | "delete" }
  | { scope: "discussion.comment"; action: "create" | "update" | "delete"; comment: RecordedComment };

/** Call this in the transaction of the change. */
export async function recordDiscussionEvent(
  tx: Db,
  { repo, discussion, actorId }: { repo: Repo; discussion: DiscussionRow; actorId: string | null },
  change: DiscussionChange,
): Promise<void> {
  const about = { repo: repoPayload(repo, { isContent: false }), discussion: discussionPayload(repo, discussion) };
  if (change.scope === "discussion.comment") {
    const { scope, action } = change;
    const comment = commentPayload(repo, discussion, change.comment);
    await recordEvent(tx, { payload: { event: { scope, action }, ...about, comment }, actorId });
  } else if (change.action === "create") {
    const comment = change.comment && { comment: commentPayload(repo, discussion, change.comment) };
    await recordEvent(tx, { payload: { event: { scope: "discussion", action: "create" }, ...about, ...comment }, actorId });
  } else {
    await recordEvent(tx, { payload: { event: { scope: "discussion", action: change.action }, ...about }, actorId });
  }
}

type CommentEventPayload = Extract<EventPayload, { event: { scope: "discussion.comment" } }>;

/** The ID of a deleted account in payloads. */
const NOBODY = "0".repeat(24);

export function discussionWebUrl({ type, fullName }: Pick<Repo, "type" | "fullName">, num: number): string {
  return `${env().ORIGIN}${repoPath(type, fullName)}/discussions/${num}`;
}

/** Clients append `/comment` to this URL (docs/specification/webhooks.md#payload). */
export function discussionApiUrl({ type, fullName }: Pick<Repo, "type" | "fullName">, num: number): string {
  return `${env().ORIGIN}${repoApiPath(type, fullName)}/discussions/${num}`;
}

function discussionPayload(repo: Repo, row: DiscussionRow): CommentEventPayload["discussion"] {
  return {
    id: row.id,
    title: row.title,
    url: { web: discussionWebUrl(repo, row.num), api: discussionApiUrl(repo, row.num) },
    status: row.status as DiscussionStatus,
    author: { id: row.authorId ?? NOBODY },
    num: row.num,
    isPullRequest: row.isPullRequest,
    ...(row.isPullRequest && {
      changes: { base: row.baseRef ?? "", ...(row.mergeCommitSha && { mergeCommitId: row.mergeCommitSha }) },
    }),
    pinned: row.isPinned,
  };
}

function commentPayload(
  repo: Repo,
  { num }: Pick<DiscussionRow, "num">,
  comment: { id: string; authorId: string | null; content: string | null; isHidden: boolean },
): CommentEventPayload["comment"] {
  return {
    id: comment.id,
    author: { id: comment.authorId ?? NOBODY },
    ...(!comment.isHidden && comment.content !== null && { content: comment.content }),
    hidden: comment.isHidden,
    url: { web: `${discussionWebUrl(repo, num)}#${comment.id}` },
  };
}
