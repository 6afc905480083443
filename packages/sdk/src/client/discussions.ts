import { z } from "zod";
import { paged } from "./paged.ts";
import { type RepoRef, repoPathOf } from "./repo-address.ts";
import type { Transport } from "./transport.ts";
import { type Asked, part } from "./whose.ts";

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
  /** Of its page. */
  url: z.string(),
});
export type DiscussionRecord = z.infer<typeof discussionSchema>;

const commentSchema = z.looseObject({
  id: z.string(),
  createdAt: z.string(),
  author,
  /** `raw` is Markdown, and empty of a hidden comment. */
  data: z.looseObject({ latest: z.looseObject({ raw: z.string() }), hidden: z.boolean(), edited: z.boolean() }),
});
export type CommentRecord = z.infer<typeof commentSchema>;

/** What happened in it: a comment, or a change of its status or title, or a commit. `data` goes by `type`. */
const eventSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  createdAt: z.string(),
  author,
  data: z.record(z.string(), z.unknown()),
});
const detailSchema = discussionSchema.extend({
  /** The oldest first, 500 at most. */
  events: z.array(eventSchema),
  /** Of a pull request. */
  changes: z.looseObject({ base: z.string(), mergeCommitId: z.string().optional() }).optional(),
});
export type DiscussionDetail = z.infer<typeof detailSchema>;

export type NewDiscussion = {
  title: string;
  /** Markdown. */
  description?: string;
  pullRequest?: boolean;
  /** Of a pull request: the branch whose commits it proposes. */
  head?: string;
  /** Of a pull request: the branch that it is for. */
  base?: string;
};
export type DiscussionFilter = {
  type?: "discussion" | "pull_request";
  status?: "open" | "closed";
  author?: string;
  search?: string;
};

const pageSchema = z.object({ discussions: z.array(discussionSchema), count: z.number(), start: z.number() });

/** Discussions and pull requests of a repository. Bots answer events here. The token takes the scope `write-discussions`. */
export function discussionsOf({ request }: Transport) {
  const at = (repo: RepoRef, num?: number, rest = "") => {
    if (num !== undefined && !(Number.isInteger(num) && num > 0)) throw new TypeError(`${num} is no number of a discussion`);
    return `${repoPathOf(repo)}/discussions${num === undefined ? "" : `/${num}`}${rest}`;
  };
  return {
    /** Pinned ones first, then the latest. */
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

    get: (repo: RepoRef, num: number, { signal }: Asked = {}): Promise<DiscussionDetail> =>
      request("GET", at(repo, num), { schema: detailSchema, signal }),

    open: (repo: RepoRef, discussion: NewDiscussion, { signal }: Asked = {}) =>
      request("POST", at(repo), {
        body: discussion,
        schema: z.object({ num: z.number(), url: z.string(), pullRequest: z.boolean() }),
        signal,
      }),

    /** @param comment Markdown */
    async comment(repo: RepoRef, num: number, comment: string, { signal }: Asked = {}): Promise<CommentRecord> {
      const schema = z.object({ newMessage: commentSchema });
      return (await request("POST", at(repo, num, "/comment"), { body: { comment }, schema, signal })).newMessage;
    },

    async editComment(repo: RepoRef, num: number, id: string, content: string, { signal }: Asked = {}): Promise<CommentRecord> {
      const schema = z.object({ updatedComment: commentSchema });
      const path = at(repo, num, `/comment/${part(id)}/edit`);
      return (await request("POST", path, { body: { content }, schema, signal })).updatedComment;
    },

    /** Closes it or opens it again, with a comment if there is something to say. */
    async setStatus(
      repo: RepoRef,
      num: number,
      status: "open" | "closed",
      { comment, signal }: Asked & { comment?: string } = {},
    ): Promise<void> {
      await request("POST", at(repo, num, "/status"), { body: { status, comment }, signal });
    },

    async setTitle(repo: RepoRef, num: number, title: string, { signal }: Asked = {}): Promise<void> {
      await request("POST", at(repo, num, "/title"), { body: { title }, signal });
    },

    /** Merges a pull request; with `headSha` only if that is still its commit. */
    merge: (
      repo: RepoRef,
      num: number,
      { signal, ...how }: Asked & { comment?: string; headSha?: string; fastForward?: boolean } = {},
    ) => request("POST", at(repo, num, "/merge"), { body: how, schema: z.object({ mergeCommitId: z.string() }), signal }),
  };
}
