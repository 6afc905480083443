import type { Discussion as DiscussionRow } from "../../generated/prisma/client.ts";

export type { DiscussionRow };

export const discussionStatuses = ["draft", "open", "closed", "merged"] as const;
export type DiscussionStatus = (typeof discussionStatuses)[number];

/** A discussion or a pull request, without its timeline. */
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
  /** For a pull request: its base branch, as `refs/heads/…`. */
  baseRef: string | null;
  mergeCommitSha: string | null;
  commentCount: number;
  createdAt: Date;
  updatedAt: Date;
};

/** An author as others see them. `isGhost`: the account was deleted. */
export type Author = { name: string; fullName: string; isGhost: boolean };

export const ghost: Author = { name: "ghost", fullName: "Deleted account", isGhost: true };

type EventBase = { id: string; authorId: string | null; author: Author; createdAt: Date };

export type Comment = EventBase & {
  type: "comment";
  /** Markdown; for a hidden comment empty, for every reader. */
  content: string;
  isHidden: boolean;
  editCount: number;
  editedAt: Date | null;
  reactions: ReactionCount[];
};

export type ReactionCount = { reaction: string; count: number; isOwn: boolean };

/** An entry of a discussion's timeline. */
export type TimelineEvent =
  | Comment
  | (EventBase & { type: "status-change"; status: DiscussionStatus })
  | (EventBase & { type: "title-change"; from: string; to: string })
  | (EventBase & { type: "commit"; subject: string; oid: string })
  | (EventBase & { type: "pinning-change"; isPinned: boolean })
  | (EventBase & { type: "locking-change"; isLocked: boolean });

/** Where the commits of a pull request are. */
export const pullRequestRef = (num: number): string => `refs/pr/${num}`;

/** The number in `refs/pr/<num>`; undefined for any other ref. */
export function numOfPullRequestRef(ref: string): number | undefined {
  const [, digits] = /^refs\/pr\/([1-9]\d{0,8})$/.exec(ref) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
