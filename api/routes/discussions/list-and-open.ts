import { createRoute, z } from "@hono/zod-openapi";
import { discussionWebUrl } from "#core/hub/discussions/discussion-payload.ts";
import { listDiscussions } from "#core/hub/discussions/list-discussions.ts";
import { openDiscussion } from "#core/hub/discussions/open-discussion.ts";
import { openPullRequest } from "#core/hub/discussions/open-pull-request.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { actorOf, requireToken } from "../../actor.ts";
import { openApiRoutes, withOrWithoutToken, withToken } from "../open-api.ts";
import { repoAddresses, repoParams } from "../repos/repo-address.ts";
import { discussionJson, discussionSchema } from "./discussion-json.ts";

const PAGE_SIZE = 50;

const query = z.object({
  p: z.coerce.number().int().min(0).max(100_000).default(0).openapi({ description: "The page, from 0." }),
  type: z.enum(["all", "discussion", "pull_request"]).default("all"),
  status: z
    .enum(["all", "open", "closed"])
    .default("all")
    .openapi({ description: "`open` includes drafts, `closed` what is merged." }),
  author: z.string().optional(),
  search: z.string().optional().openapi({ description: "Part of the title." }),
});

const body = z.object({
  title: z.string(),
  description: z.string().nullish(),
  pullRequest: z.boolean().default(false),
  head: z.string().optional().openapi({
    description:
      "Of a pull request: a branch whose commits it proposes. Without it, it is a draft that takes commits at `refs/pr/<num>`.",
  }),
  base: z.string().optional().openapi({ description: "Of a pull request: the branch that it is for, if not the default one." }),
});

export const listAndOpenRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  const path = `${base}/{owner}/{name}/discussions` as const;

  const list = createRoute({
    method: "get",
    path,
    summary: `List the discussions and pull requests of a ${type}`,
    security: withOrWithoutToken,
    request: { params: repoParams, query },
    responses: {
      200: {
        description: "Pinned ones first, then the latest; 50 on a page",
        content: {
          "application/json": {
            schema: z.object({
              discussions: z.array(discussionSchema),
              count: z.number().openapi({ description: "On all pages." }),
              start: z.number().openapi({ description: "How many are on the pages before." }),
              numClosedDiscussions: z.number(),
            }),
          },
        },
      },
    },
  });
  listAndOpenRoutes.openapi(list, async (c) => {
    const { p, type: kind, ...filter } = c.req.valid("query");
    const name = { type, ...c.req.valid("param") };
    const { repo, items, total, counts } = await listDiscussions(
      await actorOf(c),
      name,
      { ...filter, kind },
      { page: p + 1, pageSize: PAGE_SIZE },
    );
    const discussions = items.map((one) => discussionJson(repo, one));
    return c.json({ discussions, count: total, start: p * PAGE_SIZE, numClosedDiscussions: counts.closed }, 200);
  });

  const open = createRoute({
    method: "post",
    path,
    summary: `Open a discussion or a pull request of a ${type}`,
    security: withToken,
    request: { params: repoParams, body: { required: true, content: { "application/json": { schema: body } } } },
    responses: {
      200: {
        description: "It is open",
        content: {
          "application/json": { schema: z.object({ num: z.number(), url: z.string(), pullRequest: z.boolean() }) },
        },
      },
    },
  });
  listAndOpenRoutes.openapi(open, async (c) => {
    const { actor } = await requireToken(c);
    const { title, description, pullRequest, head, base: baseBranch } = c.req.valid("json");
    const found = await findRepo(actor, { type, ...c.req.valid("param") });
    const words = { title, description: description ?? "" };
    const { repo, row } = pullRequest
      ? await openPullRequest(actor, found, {
          ...words,
          ...(baseBranch !== undefined && { base: baseBranch }),
          ...(head !== undefined && { head: { branch: head } }),
        })
      : await openDiscussion(actor, found, words);
    return c.json({ num: row.num, url: discussionWebUrl(repo, row.num), pullRequest }, 200);
  });
}
