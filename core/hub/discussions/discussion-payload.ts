import { type EventPayload, repoApiPath, repoPath } from "@keyhook/sdk";
import { env } from "../../env.ts";
import type { Repo } from "../repos/repo.ts";
import type { DiscussionRow, DiscussionStatus } from "./discussion.ts";

type OfDiscussion = Extract<EventPayload, { event: { scope: "discussion.comment" } }>;

/** Replaces the id of a deleted account: every id is 24 hex digits. */
const NOBODY = "0".repeat(24);

/** Its absolute URL for people. */
export function discussionWebUrl({ type, fullName }: Pick<Repo, "type" | "fullName">, num: number): string {
  return `${env().ORIGIN}${repoPath(type, fullName)}/discussions/${num}`;
}

/** Its URL for programs; with `/comment` appended, it accepts a comment (docs/specification/webhooks.md#payload). */
export function discussionApiUrl({ type, fullName }: Pick<Repo, "type" | "fullName">, num: number): string {
  return `${env().ORIGIN}${repoApiPath(type, fullName)}/discussions/${num}`;
}

/** `discussion` of a webhook payload (docs/specification/webhooks.md#payload). */
export function discussionPayload(repo: Repo, row: DiscussionRow): OfDiscussion["discussion"] {
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

/** `comment` of a webhook payload; without its content when it is hidden. */
export function commentPayload(
  repo: Repo,
  { num }: Pick<DiscussionRow, "num">,
  comment: { id: string; authorId: string | null; content: string | null; isHidden: boolean },
): OfDiscussion["comment"] {
  return {
    id: comment.id,
    author: { id: comment.authorId ?? NOBODY },
    ...(!comment.isHidden && comment.content !== null && { content: comment.content }),
    hidden: comment.isHidden,
    url: { web: `${discussionWebUrl(repo, num)}#${comment.id}` },
  };
}
