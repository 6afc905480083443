import { z } from "zod";
import { type Asked, part, type RepoRef, repoPathOf } from "./addresses.ts";
import { paged } from "./paged.ts";
import type { Transport } from "./transport.ts";

const author = z.looseObject({ name: z.string() });

const discussionSchema = z.looseObject({
  num: z.number(),
  title: z.string(),
  status: z.enum(["draft", "open", "closed", "merged"]),
  isPullRequest: z.boolean(),
  author,
  createdAt: z.string(),
  pinned: z.boolean(),
  locked: z.boolean(),
  numComments: z.number(),
  url: z.string(),
});
/** A discussion or a pull request. `url` is its page. @group Client @useDeclaredType */
export type DiscussionRecord = z.infer<typeof discussionSchema>;

const commentSchema = z.looseObject({
  id: z.string(),
  createdAt: z.string(),
  author,
  data: z.looseObject({ latest: z.looseObject({ raw: z.string() }), hidden: z.boolean(), edited: z.boolean() }),
});
/** A comment. `data.latest.raw` is Markdown, and empty if the comment is hidden. @group Client @useDeclaredType */
export type CommentRecord = z.infer<typeof commentSchema>;

/** The shape of `data` depends on `type`. */
const eventSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  createdAt: z.string(),
  author,
  data: z.record(z.string(), z.unknown()),
});
const detailSchema = discussionSchema.extend({
  /** At most 500, oldest first. */
  events: z.array(eventSchema),
  /** Only for a pull request. */
  changes: z.looseObject({ base: z.string(), mergeCommitId: z.string().optional() }).optional(),
});
/** A discussion with its events. @group Client @useDeclaredType */
export type DiscussionDetail = z.infer<typeof detailSchema>;

/** A discussion or pull request to open. @group Client */
export type NewDiscussion = {
  title: string;
  /** Markdown. */
  description?: string;
  pullRequest?: boolean;
  /** For a pull request: the branch with the proposed commits. */
  head?: string;
  /** For a pull request: the branch to merge into. */
  base?: string;
};
/** A filter of the discussions to list. @group Client */
export type DiscussionFilter = {
  type?: "discussion" | "pull_request";
  status?: "open" | "closed";
  author?: string;
  search?: string;
};

const pageSchema = z.object({ discussions: z.array(discussionSchema), count: z.number(), start: z.number() });

/**
 * The operations of `client.repos.discussions`, on discussions and pull requests.
 *
 * All operations except `list` and `get` need the scope `write-discussions`; `merge` also needs a scope that allows writing to the
 * repository.
 * @group Client @useDeclaredType
 */
export type DiscussionsClient = ReturnType<typeof discussionsOf>;

export function discussionsOf({ request }: Transport) {
  const at = (repo: RepoRef, num?: number, rest = "") => {
    if (num !== undefined && !(Number.isInteger(num) && num > 0)) throw new TypeError(`${num} is not the number of a discussion`);
    return `${repoPathOf(repo)}/discussions${num === undefined ? "" : `/${num}`}${rest}`;
  };
  return {
    /** Lists discussions and pull requests: pinned ones first, then the latest. */
    list: (repo: RepoRef, filter: DiscussionFilter = {}, { signal }: Asked = {}) =>
      paged<DiscussionRecord>(async (cursor = "0") => {
        const { discussions, count, start } = await request("GET", at(repo), {
          query: { ...filter, p: cursor },
          schema: pageSchema,
          signal,
        });
        const isMore = discussions.length > 0 && start + discussions.length < count;
        return { items: discussions, next: isMore ? String(Number(cursor) + 1) : null };
      }),

    /** Reads a discussion with its events. @throws {@link ApiError} with status 404 */
    get: (repo: RepoRef, num: number, { signal }: Asked = {}): Promise<DiscussionDetail> =>
      request("GET", at(repo, num), { schema: detailSchema, signal }),

    /** Opens a discussion, or with `pullRequest` a pull request. To comment on it, pass its `num` to `comment`. */
    open: (repo: RepoRef, discussion: NewDiscussion, { signal }: Asked = {}) =>
      request("POST", at(repo), {
        body: discussion,
        schema: z.object({ num: z.number(), url: z.string(), pullRequest: z.boolean() }),
        signal,
      }),

    /** Adds a comment, which is Markdown. */
    async comment(repo: RepoRef, num: number, comment: string, { signal }: Asked = {}): Promise<CommentRecord> {
      const schema = z.object({ newMessage: commentSchema });
      return (await request("POST", at(repo, num, "/comment"), { body: { comment }, schema, signal })).newMessage;
    },

    /** Replaces the text of a comment. `id` is the ID of the comment. */
    async editComment(repo: RepoRef, num: number, id: string, content: string, { signal }: Asked = {}): Promise<CommentRecord> {
      const schema = z.object({ updatedComment: commentSchema });
      const path = at(repo, num, `/comment/${part(id)}/edit`);
      return (await request("POST", path, { body: { content }, schema, signal })).updatedComment;
    },

    /** Closes or reopens a discussion, with a comment if you give one. */
    async setStatus(
      repo: RepoRef,
      num: number,
      status: "open" | "closed",
      { comment, signal }: Asked & { comment?: string } = {},
    ): Promise<void> {
      await request("POST", at(repo, num, "/status"), { body: { status, comment }, signal });
    },

    /** Changes the title of a discussion. */
    async setTitle(repo: RepoRef, num: number, title: string, { signal }: Asked = {}): Promise<void> {
      await request("POST", at(repo, num, "/title"), { body: { title }, signal });
    },

    /** Merges a pull request. With `headSha`, only if that is still its latest commit. */
    merge: (
      repo: RepoRef,
      num: number,
      { signal, ...how }: Asked & { comment?: string; headSha?: string; fastForward?: boolean } = {},
    ) => request("POST", at(repo, num, "/merge"), { body: how, schema: z.object({ mergeCommitId: z.string() }), signal }),
  };
}
