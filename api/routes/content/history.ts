import { z } from "@hono/zod-openapi";
import { commitSchema, refsSchema } from "@keyhook/sdk";
import { avatarUrl } from "#core/accounts/avatar.ts";
import { ServiceError } from "#core/errors.ts";
import { type Author, bodyOf, type Commit, findAuthors } from "#core/hub/git/read/commit.ts";
import { comparePatch, parseRange } from "#core/hub/git/read/compare-revisions.ts";
import { COMMITS_PAGE_MAX, listCommits } from "#core/hub/git/read/list-commits.ts";
import { type ListedRef, listRefs } from "#core/hub/git/read/list-refs.ts";
import { splitRevision } from "#core/hub/git/read/revision.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { actorOf } from "../../actor.ts";
import { escapedHtml } from "../../escaped-html.ts";
import { linkNextPage } from "../../next-page.ts";
import { addOnBranchHeader, defineContentRoute, isTrue } from "./content-route.ts";

export const historyRoutes = [
  defineContentRoute("GET /commits/{rev}/{path}", {
    operationId: "listRepoCommits",
    action: "repo.read",
    summary: "List commits, newest first",
    query: z.object({
      p: z.number().optional().openapi({ description: "The page, from 0." }),
      limit: z
        .number()
        .optional()
        .openapi({ description: `The number of commits on a page, at most ${COMMITS_PAGE_MAX}.` }),
      "expand[]": z.enum(["formatted"]).optional(),
    }),
    answer: z.array(commitSchema),
    async handle({ c, repo: name, segments: [, ...segments] }) {
      const { revision, path } = splitRevision(segments);
      const repo = await findRepo(await actorOf(c), name);
      const { p, limit } = c.req.query();
      const isFormatted = [...(c.req.queries("expand[]") ?? []), ...(c.req.queries("expand") ?? [])].includes("formatted");
      const found = await listCommits(repo, { revision, path, page: Number(p), limit: Number(limit) });
      const { commits, total, page, pageSize } = found;
      await addOnBranchHeader(c, repo, found.revision);
      c.header("X-Total-Count", String(total));
      if ((page + 1) * pageSize < total) linkNextPage(c, { p: page + 1 });
      const authors = await findAuthors(commits.map(({ author }) => author.email));
      return c.json(commits.map((commit) => commitJson(commit, authors.get(commit.author.email), isFormatted)));
    },
  }),

  defineContentRoute("GET /refs", {
    operationId: "listRepoRefs",
    action: "repo.read",
    summary: "List branches and tags, and pull requests if requested",
    query: z.object({ include_prs: z.boolean().optional() }),
    answer: refsSchema,
    async handle({ c, repo: name }) {
      const repo = await findRepo(await actorOf(c), name);
      const withPullRequests = isTrue(c.req.query("include_prs"));
      const { branches, tags, converts, pullRequests } = await listRefs(repo, { withPullRequests });
      return c.json({
        branches: branches.map(refJson),
        tags: tags.map(refJson),
        converts: converts.map(refJson),
        ...(withPullRequests && { pullRequests: pullRequests.map(refJson) }),
      });
    },
  }),

  defineContentRoute("GET /compare/{range}*", {
    operationId: "compareRepoRevisions",
    action: "repo.read_content",
    summary: "Compare two revisions, base...head, in the format of `git diff`",
    answer: "text",
    async handle({ c, repo: name, segments: [, ...segments] }) {
      const range = parseRange(segments.join("/"));
      const repo = await findRepo(await actorOf(c), name, "repo.read_content");
      const patch = await comparePatch(repo, range);
      if (patch !== null) return c.text(patch);
      throw new ServiceError("payload_too_large", "The diff is too large to send. Clone the repository.");
    },
  }),
];

const refJson = ({ name, ref, targetCommit }: ListedRef) => ({ name, ref, targetCommit });

function commitJson(commit: Commit, account: Author | undefined, isFormatted: boolean): z.infer<typeof commitSchema> {
  const { sha, title, author, parents } = commit;
  const message = bodyOf(commit);
  return {
    id: sha,
    title,
    message,
    authors: [account ? { user: account.username, avatar: avatarUrl(account.username) } : { user: author.name }],
    date: author.at.toISOString(),
    parents,
    ...(isFormatted && { formatted: { title: escapedHtml(title), message: escapedHtml(message) } }),
  };
}
