import type { CommentJson, DiscussionAuthorJson, DiscussionJson, TimelineEventJson } from "@keyhook/sdk";
import { avatarUrl } from "#core/accounts/avatar.ts";
import type { Author, Discussion, TimelineEvent } from "#core/hub/discussions/discussion.ts";
import type { DiscussionName } from "#core/hub/discussions/find-discussion.ts";
import { discussionWebUrl } from "#core/hub/discussions/record-discussion-event.ts";
import type { RepoName } from "#core/hub/repos/find-repo.ts";
import type { Repo } from "#core/hub/repos/repo.ts";

export function discussionName(repo: RepoName, num: string): DiscussionName {
  return { repo, num: /^\d{1,10}$/.test(num) ? Number(num) : Number.NaN };
}

export function discussionJson(repo: Repo, discussion: Discussion): DiscussionJson {
  const { num, title, status, isPullRequest, isPinned, isLocked, author, createdAt, commentCount } = discussion;
  return {
    num,
    title,
    status,
    isPullRequest,
    author: authorJson(author),
    createdAt: createdAt.toISOString(),
    repo: { name: repo.fullName, type: repo.type },
    repoOwner: { name: repo.owner.handle, type: repo.owner.kind === "organization" ? "org" : "user" },
    pinned: isPinned,
    locked: isLocked,
    numComments: commentCount,
    url: discussionWebUrl(repo, num),
  };
}

export function commentJson(comment: Extract<TimelineEvent, { type: "comment" }>): CommentJson {
  return eventJson(comment) as CommentJson;
}

export function eventJson(event: TimelineEvent): TimelineEventJson {
  const common = { id: event.id, createdAt: event.createdAt.toISOString(), author: authorJson(event.author) };
  switch (event.type) {
    case "comment": {
      const { content, isHidden, editCount, editedAt, reactions, author } = event;
      const updatedAt = (editedAt ?? event.createdAt).toISOString();
      const latest = { raw: content, updatedAt, author: { name: author.name } };
      const data = { latest, hidden: isHidden, edited: editCount > 0, numEdits: editCount, reactions };
      return { ...common, type: event.type, data };
    }
    case "status-change":
      return { ...common, type: event.type, data: { status: event.status } };
    case "title-change":
      return { ...common, type: event.type, data: { from: event.from, to: event.to } };
    case "commit":
      return { ...common, type: event.type, data: { subject: event.subject, oid: event.oid } };
    case "pinning-change":
      return { ...common, type: event.type, data: { pinned: event.isPinned } };
    case "locking-change":
      return { ...common, type: event.type, data: { locked: event.isLocked } };
  }
}

function authorJson({ name, fullName }: Author): DiscussionAuthorJson {
  return { name, fullname: fullName || name, avatarUrl: avatarUrl(name), type: "user" };
}
