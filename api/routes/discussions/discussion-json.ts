import { z } from "@hono/zod-openapi";
import { avatarUrl } from "#core/accounts/avatar-url.ts";
import { type Author, type Discussion, discussionStatuses, type TimelineEvent } from "#core/hub/discussions/discussion.ts";
import { discussionWebUrl } from "#core/hub/discussions/discussion-payload.ts";
import type { Repo } from "#core/hub/repos/repo.ts";

const authorSchema = z.object({
  name: z.string().openapi({ description: "`ghost` for an account that was deleted." }),
  fullname: z.string(),
  avatarUrl: z.string(),
  type: z.literal("user"),
});

export const discussionSchema = z.object({
  num: z.number(),
  title: z.string(),
  status: z.enum(discussionStatuses),
  isPullRequest: z.boolean(),
  author: authorSchema,
  createdAt: z.string(),
  repo: z.object({ name: z.string(), type: z.string() }),
  repoOwner: z.object({ name: z.string(), type: z.string() }),
  pinned: z.boolean(),
  locked: z.boolean(),
  numComments: z.number(),
  url: z.string(),
});

const base = { id: z.string(), createdAt: z.string(), author: authorSchema };

export const commentSchema = z
  .object({
    ...base,
    type: z.literal("comment"),
    data: z.object({
      latest: z.object({ raw: z.string(), updatedAt: z.string(), author: z.object({ name: z.string() }) }),
      hidden: z.boolean(),
      edited: z.boolean(),
      numEdits: z.number(),
      reactions: z.array(z.object({ reaction: z.string(), count: z.number(), isOwn: z.boolean() })),
    }),
  })
  .openapi({ description: "`raw` is Markdown, and empty of a hidden comment." });

export const eventSchema = z.union([
  commentSchema,
  z.object({ ...base, type: z.literal("status-change"), data: z.object({ status: z.enum(discussionStatuses) }) }),
  z.object({ ...base, type: z.literal("title-change"), data: z.object({ from: z.string(), to: z.string() }) }),
  z.object({ ...base, type: z.literal("commit"), data: z.object({ subject: z.string(), oid: z.string() }) }),
  z.object({ ...base, type: z.literal("pinning-change"), data: z.object({ pinned: z.boolean() }) }),
  z.object({ ...base, type: z.literal("locking-change"), data: z.object({ locked: z.boolean() }) }),
]);

export function discussionJson(repo: Repo, discussion: Discussion): z.infer<typeof discussionSchema> {
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

export type CommentJson = z.infer<typeof commentSchema>;
export type EventJson = z.infer<typeof eventSchema>;

export function commentJson(comment: Extract<TimelineEvent, { type: "comment" }>): CommentJson {
  return eventJson(comment) as CommentJson;
}

/** An event of the timeline as existing clients read it (docs/specification/repositories-and-git.md#discussions-and-pull-requests). */
export function eventJson(event: TimelineEvent): EventJson {
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

function authorJson({ name, fullName }: Author): z.infer<typeof authorSchema> {
  return { name, fullname: fullName || name, avatarUrl: avatarUrl(name), type: "user" };
}
