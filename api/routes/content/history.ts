import { z } from "@hono/zod-openapi";
import { avatarUrl } from "#core/accounts/avatar-url.ts";
import { ServiceError } from "#core/errors.ts";
import { bodyOf, type Commit } from "#core/hub/git/read/commit.ts";
import { comparePatch, parseRange } from "#core/hub/git/read/compare-revisions.ts";
import { type Author, findAuthors } from "#core/hub/git/read/find-authors.ts";
import { COMMITS_PAGE_MAX, listCommits } from "#core/hub/git/read/list-commits.ts";
import { type ListedRef, listRefs } from "#core/hub/git/read/list-refs.ts";
import { splitRevision } from "#core/hub/git/read/split-revision.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { actorOf } from "../../actor.ts";
import { openApiRoutes } from "../open-api.ts";
import { addRepoRoute, isTrue, nextLink, sayWhetherOnBranch } from "./repo-route.ts";

export const commitSchema = z.object({
  id: z.string(),
  title: z.string(),
  message: z.string().openapi({ description: "What follows the title." }),
  authors: z.array(z.object({ user: z.string(), avatar: z.string().optional() })),
  date: z.string(),
  parents: z.array(z.string()),
  formatted: z.object({ title: z.string(), message: z.string() }).optional().openapi({ description: "As HTML." }),
});

const refSchema = z.object({ name: z.string(), ref: z.string(), targetCommit: z.string() });
export const refsSchema = z.object({
  branches: z.array(refSchema),
  tags: z.array(refSchema),
  converts: z.array(refSchema),
  pullRequests: z.array(refSchema).optional(),
});

export const historyRoutes = openApiRoutes();

addRepoRoute(historyRoutes, {
  method: "get",
  path: "/commits/{rev}/{path}",
  summary: "List commits, the latest first",
  query: z.object({
    p: z.number().optional().openapi({ description: "The page, from 0." }),
    limit: z
      .number()
      .optional()
      .openapi({ description: `At most ${COMMITS_PAGE_MAX}.` }),
    "expand[]": z.enum(["formatted"]).optional(),
  }),
  answer: z.array(commitSchema),
  async handle(c, name, [, ...segments]) {
    const { revision, path } = splitRevision(segments);
    const repo = await findRepo(await actorOf(c), name);
    const { p, limit } = c.req.query();
    const isFormatted = [...(c.req.queries("expand[]") ?? []), ...(c.req.queries("expand") ?? [])].includes("formatted");
    const found = await listCommits(repo, { revision, path, page: Number(p), limit: Number(limit) });
    const { commits, total, page, pageSize } = found;
    await sayWhetherOnBranch(c, repo, found.revision);
    c.header("X-Total-Count", String(total));
    if ((page + 1) * pageSize < total) c.header("Link", nextLink(c, { p: String(page + 1) }));
    const authors = await findAuthors(commits.map(({ author }) => author.email));
    return c.json(commits.map((commit) => commitJson(commit, authors.get(commit.author.email), isFormatted)));
  },
});

addRepoRoute(historyRoutes, {
  method: "get",
  path: "/refs",
  summary: "List branches, tags and, if asked, pull requests",
  query: z.object({ include_prs: z.boolean().optional() }),
  answer: refsSchema,
  async handle(c, name) {
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
});

addRepoRoute(historyRoutes, {
  method: "get",
  path: "/compare/{range}*",
  summary: "The difference between two revisions, base...head, as git writes it",
  answer: "text",
  async handle(c, name, [, ...segments]) {
    const range = parseRange(segments.join("/"));
    const repo = await findRepo(await actorOf(c), name, "repo.read_content");
    const patch = await comparePatch(repo, range);
    if (patch === null)
      throw new ServiceError("payload_too_large", "The difference is too large to be sent. Clone the repository.");
    return c.text(patch);
  },
});

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
    ...(isFormatted && { formatted: { title: escaped(title), message: escaped(message) } }),
  };
}

/** Text as HTML: its letters, without markup. */
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll("\n", "<br>");
