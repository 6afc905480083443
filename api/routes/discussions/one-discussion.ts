import { createRoute, z } from "@hono/zod-openapi";
import { may } from "#core/access/may.ts";
import { deleteDiscussion } from "#core/hub/discussions/delete-discussion.ts";
import { deletePullRequestRef } from "#core/hub/discussions/delete-pull-request-ref.ts";
import type { Discussion } from "#core/hub/discussions/discussion.ts";
import { findDiscussion } from "#core/hub/discussions/find-discussion.ts";
import { readPullRequestState } from "#core/hub/discussions/pull-request-state.ts";
import { readPullRequestPatch } from "#core/hub/discussions/read-pull-request-patch.ts";
import { readTimeline } from "#core/hub/discussions/read-timeline.ts";
import { ifInTime } from "#core/hub/git/read/walk.ts";
import { type Repo, repoResource } from "#core/hub/repos/repo.ts";
import { actorAnew, actorOf } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withOrWithoutToken, withToken } from "../open-api.ts";
import { repoAddresses } from "../repos/repo-address.ts";
import { discussionName, discussionParams } from "./discussion-address.ts";
import { discussionJson, discussionSchema, eventJson, eventSchema } from "./discussion-json.ts";

const EVENTS_ON_A_PAGE = 500;
/** The response omits the conflicts when git is slow (S137). Clients need the field, and accept null for unknown. */
const CONFLICTS_MAX_MS = 2_000;

const query = z.object({
  diff: z.string().optional().openapi({ description: "`1` for what a pull request changes, as `git diff` writes it." }),
  p: z.coerce
    .number()
    .int()
    .min(0)
    .max(100_000)
    .default(0)
    .openapi({ description: "The page of events, from 0; 500 on each, fewer where comments are long." }),
});

const detailsSchema = discussionSchema.extend({
  events: z.array(eventSchema),
  changes: z.object({ base: z.string(), mergeCommitId: z.string().optional() }).optional(),
  filesWithConflicts: z
    .array(z.string())
    .nullish()
    .openapi({ description: "Null where git takes too long to say: ask again later." }),
  diff: z
    .string()
    .nullish()
    .openapi({ description: "Absent where the reader may not read files; null where it is too large, or gone." }),
});

const success = z.object({ success: z.literal(true) });

export const oneDiscussionRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  const path = `${base}/{owner}/{name}/discussions/{num}` as const;

  const read = createRoute({
    method: "get",
    path,
    summary: `Read a discussion or a pull request of a ${type}`,
    security: withOrWithoutToken,
    request: { params: discussionParams, query },
    responses: {
      200: {
        description: "With what happened in it, the oldest first",
        content: { "application/json": { schema: detailsSchema } },
      },
    },
  });
  oneDiscussionRoutes.openapi(read, async (c) => {
    const actor = await actorOf(c);
    const { repo, discussion } = await findDiscussion(actor, discussionName(type, c.req.valid("param")));
    const { p, diff } = c.req.valid("query");
    const { items, total } = await readTimeline(actor, discussion, { page: p + 1, pageSize: EVENTS_ON_A_PAGE });
    if (total > (p + 1) * EVENTS_ON_A_PAGE) {
      const next = new URL(c.req.url);
      next.searchParams.set("p", String(p + 1));
      c.header("Link", `<${next.href}>; rel="next"`);
    }
    // Users who may see a gated repository but not its files still see its discussions.
    const withDiff = diff === "1" && discussion.isPullRequest && (await may(actor, "repo.read_content", repoResource(repo)));
    return c.json(
      {
        ...discussionJson(repo, discussion),
        events: items.map(eventJson),
        ...(discussion.isPullRequest && (await changesOf(repo, discussion))),
        ...(withDiff && { diff: await readPullRequestPatch(repo, discussion) }),
      },
      200,
    );
  });

  const remove = createRoute({
    method: "delete",
    path,
    summary: `Delete a discussion or a pull request of a ${type}`,
    security: withToken,
    request: { params: discussionParams },
    responses: { 200: { description: "It is gone", content: { "application/json": { schema: success } } } },
  });
  oneDiscussionRoutes.openapi(remove, async (c) => {
    const actorNow = actorAnew(c);
    const actor = await actorNow();
    await deleteDiscussion(actor, discussionName(type, c.req.valid("param")), requestOriginOf(c), actorNow);
    return c.json({ success: true as const }, 200);
  });

  const removeRef = createRoute({
    method: "delete",
    path: `${path}/ref`,
    summary: `Delete the commits of a closed or merged pull request of a ${type}`,
    security: withToken,
    request: { params: discussionParams },
    responses: { 200: { description: "They are gone", content: { "application/json": { schema: success } } } },
  });
  oneDiscussionRoutes.openapi(removeRef, async (c) => {
    const actorNow = actorAnew(c);
    const actor = await actorNow();
    await deletePullRequestRef(actor, discussionName(type, c.req.valid("param")), actorNow);
    return c.json({ success: true as const }, 200);
  });
}

async function changesOf(repo: Repo, discussion: Discussion) {
  const { status, baseRef, mergeCommitSha } = discussion;
  const isUnderWay = status === "open" || status === "draft";
  const state = isUnderWay ? (await ifInTime(readPullRequestState(repo, discussion), CONFLICTS_MAX_MS)).value : undefined;
  const filesWithConflicts = isUnderWay ? (state?.filesWithConflicts ?? null) : [];
  return { changes: { base: baseRef ?? "", ...(mergeCommitSha && { mergeCommitId: mergeCommitSha }) }, filesWithConflicts };
}
