import { z } from "zod";

/** Discussions as existing clients read them (docs/specification/repositories-and-git.md#discussions-and-pull-requests). */

const statuses = ["draft", "open", "closed", "merged"] as const;

const authorSchema = z.object({
  name: z.string().meta({ description: "The handle; `ghost` if the account was deleted." }),
  fullname: z.string(),
  avatarUrl: z.string(),
  type: z.literal("user"),
});
export type DiscussionAuthorJson = z.infer<typeof authorSchema>;

export const discussionSchema = z.object({
  num: z.number(),
  title: z.string(),
  status: z.enum(statuses),
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
export type DiscussionJson = z.infer<typeof discussionSchema>;

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
  .meta({ description: "`raw` is Markdown. It is empty if the comment is hidden." });
export type CommentJson = z.infer<typeof commentSchema>;

/** An event of a discussion's timeline. @group Discussions */
export const timelineEventSchema = z.union([
  commentSchema,
  z.object({ ...base, type: z.literal("status-change"), data: z.object({ status: z.enum(statuses) }) }),
  z.object({ ...base, type: z.literal("title-change"), data: z.object({ from: z.string(), to: z.string() }) }),
  z.object({ ...base, type: z.literal("commit"), data: z.object({ subject: z.string(), oid: z.string() }) }),
  z.object({ ...base, type: z.literal("pinning-change"), data: z.object({ pinned: z.boolean() }) }),
  z.object({ ...base, type: z.literal("locking-change"), data: z.object({ locked: z.boolean() }) }),
]);
export type TimelineEventJson = z.infer<typeof timelineEventSchema>;

/** `GET …/discussions` @group Discussions */
export const discussionPageSchema = z.object({
  discussions: z.array(discussionSchema),
  count: z.number().meta({ description: "The number of discussions on all pages." }),
  start: z.number().meta({ description: "The number of discussions on earlier pages." }),
  numClosedDiscussions: z.number(),
});

/** `GET …/discussions/{num}` @group Discussions */
export const discussionDetailsSchema = discussionSchema.extend({
  events: z.array(timelineEventSchema),
  changes: z.object({ base: z.string(), mergeCommitId: z.string().optional() }).optional(),
  filesWithConflicts: z
    .array(z.string())
    .nullish()
    .meta({ description: "Null if the caller may not read files, or if git did not respond in time." }),
  diff: z
    .string()
    .nullish()
    .meta({ description: "Absent if the caller may not read files; null if the diff is too large or its commits were deleted." }),
});

/** `POST …/discussions`, and its response. @group Discussions */
export const newDiscussionSchema = z.object({
  title: z.string(),
  description: z.string().nullish(),
  pullRequest: z.boolean().default(false),
  head: z.string().optional().meta({
    description:
      "For a pull request: the branch with the proposed commits. Without `head`, the pull request is a draft that accepts commits at `refs/pr/<num>`.",
  }),
  base: z
    .string()
    .optional()
    .meta({ description: "For a pull request: the branch into which it is merged. Default: the default branch." }),
});
export const openedDiscussionSchema = z.object({ num: z.number(), url: z.string(), pullRequest: z.boolean() });

export const newCommentSchema = z.object({ comment: z.string() });
export const editedCommentSchema = z.object({ content: z.string() });

export const newTitleSchema = z.object({ title: z.string() });
export const newStatusSchema = z.object({ status: z.enum(["open", "closed"]), comment: z.string().nullish() });
export const pinSchema = z.object({ pinned: z.boolean().default(true) });
export const lockSchema = z.object({ locked: z.boolean().default(true) });

/** `POST …/merge`, and its response. @group Discussions */
export const mergeSchema = z.object({
  comment: z.string().nullish(),
  headSha: z.string().optional().meta({
    description: "The commit that you reviewed. The request is refused if the pull request has another head commit now.",
  }),
  fastForward: z
    .boolean()
    .optional()
    .meta({ description: "Whether to fast-forward the branch instead of creating a merge commit." }),
});
export const mergedSchema = z.object({ success: z.literal(true), mergeCommitId: z.string() });
