import { displayText, plainText } from "../../accounts/plain-text.ts";
import { invalidRequest } from "../../errors.ts";
import type { Discussion as DiscussionRow } from "../../generated/prisma/client.ts";

export type { DiscussionRow };

export const discussionStatuses = ["draft", "open", "closed", "merged"] as const;
export type DiscussionStatus = (typeof discussionStatuses)[number];

export type Discussion = {
  id: string;
  num: number;
  title: string;
  status: DiscussionStatus;
  isPullRequest: boolean;
  isPinned: boolean;
  isLocked: boolean;
  authorId: string | null;
  author: Author;
  /** A full name of a ref. Null unless this is a pull request. */
  baseRef: string | null;
  mergeCommitSha: string | null;
  commentCount: number;
  createdAt: Date;
  updatedAt: Date;
};

export type Author = { name: string; fullName: string; isGhost: boolean };

export const ghost: Author = { name: "ghost", fullName: "Deleted account", isGhost: true };

type EventBase = { id: string; authorId: string | null; author: Author; createdAt: Date };

export type Comment = EventBase & {
  type: "comment";
  /** Markdown. Empty if the comment is hidden. */
  content: string;
  isHidden: boolean;
  editCount: number;
  editedAt: Date | null;
  reactions: ReactionCount[];
};

export type ReactionCount = { reaction: string; count: number; isOwn: boolean };

export type TimelineEvent =
  | Comment
  | (EventBase & { type: "status-change"; status: DiscussionStatus })
  | (EventBase & { type: "title-change"; from: string; to: string })
  | (EventBase & { type: "commit"; subject: string; oid: string })
  | (EventBase & { type: "pinning-change"; isPinned: boolean })
  | (EventBase & { type: "locking-change"; isLocked: boolean });

export const pullRequestRef = (num: number): string => `refs/pr/${num}`;

export function numOfPullRequestRef(ref: string): number | undefined {
  const [, digits] = /^refs\/pr\/([1-9]\d{0,8})$/.exec(ref) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export const TITLE_MAX_CHARACTERS = 200;
const COMMENT_MAX_BYTES = 64 * 1024;

export function parseTitle(value: unknown): string {
  return displayText("title", value, { maxCharacters: TITLE_MAX_CHARACTERS });
}

export function parseComment(value: unknown, field = "comment"): string {
  const text = parseDescription(value, field);
  if (text === "") throw invalidRequest("Enter some text.", field);
  return text;
}

export function parseDescription(value: unknown, field = "description"): string {
  const text = plainText(field, value ?? "", COMMENT_MAX_BYTES)
    .replace(/\r\n?/g, "\n")
    .trim();
  if (Buffer.byteLength(text) > COMMENT_MAX_BYTES) {
    throw invalidRequest(`Shorten this to at most ${COMMENT_MAX_BYTES / 1024} KiB.`, field);
  }
  return text;
}
