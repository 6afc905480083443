import { z } from "@hono/zod-openapi";
import {
  discussionDetailsSchema,
  discussionPageSchema,
  lockSchema,
  mergedSchema,
  mergeSchema,
  newDiscussionSchema,
  newStatusSchema,
  newTitleSchema,
  openedDiscussionSchema,
  pinSchema,
  timelineEventSchema,
} from "@keyhook/sdk";
import { may } from "#core/access/may.ts";
import { deleteDiscussion, deletePullRequestRef } from "#core/hub/discussions/delete-discussion.ts";
import type { Discussion } from "#core/hub/discussions/discussion.ts";
import { findDiscussion, listDiscussions } from "#core/hub/discussions/find-discussion.ts";
import { mergePullRequest } from "#core/hub/discussions/merge-pull-request.ts";
import { openDiscussion } from "#core/hub/discussions/open-discussion.ts";
import { openPullRequest } from "#core/hub/discussions/open-pull-request.ts";
import { changeStatus, changeTitle, setLocked, setPinned } from "#core/hub/discussions/properties.ts";
import { readPullRequestPatch, readPullRequestState } from "#core/hub/discussions/read-pull-request.ts";
import { readTimeline } from "#core/hub/discussions/read-timeline.ts";
import { discussionWebUrl } from "#core/hub/discussions/record-discussion-event.ts";
import { ifInTime } from "#core/hub/git/read/walk.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { type Repo, repoResource } from "#core/hub/repos/repo.ts";
import { defineRoute, json, storageFull } from "../../define-route.ts";
import { linkNextPage } from "../../next-page.ts";
import { discussionJson, discussionName, eventJson } from "./discussion-json.ts";

const PAGE_SIZE = 50;
const EVENTS_ON_A_PAGE = 500;
/** After this time, and for users who may not read the content, `filesWithConflicts` is null (S135, S137). */
const CONFLICTS_MAX_MS = 2_000;

const page = z.coerce.number().int().min(0).max(100_000).default(0);
const successSchema = z.object({ success: z.literal(true) });
const success = { success: true } as const;

export const discussionRoutes = [
  defineRoute("GET /api/{TYPES}/{owner}/{name}/discussions", {
    operationId: "listRepoDiscussions",
    action: "repo.read",
    actor: "anyone",
    summary: "List the discussions and pull requests of a {type}",
    query: z.object({
      p: page.openapi({ description: "The page, from 0." }),
      type: z.enum(["all", "discussion", "pull_request"]).default("all"),
      status: z
        .enum(["all", "open", "closed"])
        .default("all")
        .openapi({ description: "`open` includes drafts; `closed` includes merged pull requests." }),
      author: z.string().optional(),
      search: z.string().optional().openapi({ description: "Text in the title." }),
    }),
    responses: { 200: json("Pinned discussions first, then the newest; 50 per page", discussionPageSchema) },
    async handle({ actor, repo: name, query: { p, type: kind, ...filter } }) {
      const wanted = { page: p + 1, pageSize: PAGE_SIZE };
      const { repo, items, total, counts } = await listDiscussions(actor, name, { ...filter, kind }, wanted);
      const discussions = items.map((one) => discussionJson(repo, one));
      return { discussions, count: total, start: p * PAGE_SIZE, numClosedDiscussions: counts.closed };
    },
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/discussions", {
    operationId: "openRepoDiscussion",
    action: "discussion.write",
    actor: "token",
    summary: "Open a discussion or a pull request in a {type} repository",
    body: newDiscussionSchema,
    maxBodyBytes: 1024 * 1024,
    responses: { 200: json("The new discussion", openedDiscussionSchema) },
    async handle({ actor, repo: name, body: { title, description, pullRequest, head, base } }) {
      const found = await findRepo(actor, name);
      const words = { title, description: description ?? "" };
      const branches = { ...(base !== undefined && { base }), ...(head !== undefined && { head: { branch: head } }) };
      const { repo, row } = pullRequest
        ? await openPullRequest(actor, found, { ...words, ...branches })
        : await openDiscussion(actor, found, words);
      return { num: row.num, url: discussionWebUrl(repo, row.num), pullRequest };
    },
  }),

  defineRoute("GET /api/{TYPES}/{owner}/{name}/discussions/{num}", {
    operationId: "getRepoDiscussion",
    action: "repo.read",
    actor: "anyone",
    summary: "Get a discussion or a pull request of a {type}",
    query: z.object({
      diff: z.string().optional().openapi({ description: "`1` adds the changes of a pull request in the format of `git diff`." }),
      p: page.openapi({
        description: "The page of events, from 0. A page has up to 500 events, and fewer if comments are long.",
      }),
    }),
    responses: { 200: json("The discussion with its events, oldest first", discussionDetailsSchema) },
    async handle({ c, actor, repo: name, params, query: { p, diff } }) {
      const { repo, discussion } = await findDiscussion(actor, discussionName(name, params.num));
      const { items, total } = await readTimeline(actor, discussion, { page: p + 1, pageSize: EVENTS_ON_A_PAGE });
      if (total > (p + 1) * EVENTS_ON_A_PAGE) linkNextPage(c, { p: p + 1 });
      // Users who may see a gated repository but not its files still see its discussions.
      const mayRead = discussion.isPullRequest && (await may(actor, "repo.read_content", repoResource(repo)));
      return {
        ...discussionJson(repo, discussion),
        events: items.map(eventJson),
        ...(discussion.isPullRequest && (await changesOf(repo, discussion, mayRead))),
        ...(mayRead && diff === "1" && { diff: await readPullRequestPatch(repo, discussion) }),
      };
    },
  }),

  defineRoute("DELETE /api/{TYPES}/{owner}/{name}/discussions/{num}", {
    operationId: "deleteRepoDiscussion",
    action: "discussion.moderate",
    actor: "token",
    summary: "Delete a discussion or a pull request of a {type}",
    responses: { 200: json("Deleted", successSchema) },
    async handle({ actor, actorNow, repo, params, origin }) {
      await deleteDiscussion(actor, discussionName(repo, params.num), origin, actorNow);
      return success;
    },
  }),

  defineRoute("DELETE /api/{TYPES}/{owner}/{name}/discussions/{num}/ref", {
    operationId: "deleteRepoPullRequestRef",
    action: "discussion.moderate",
    actor: "token",
    summary: "Delete the commits of a closed or merged pull request of a {type}",
    responses: { 200: json("The commits are deleted", successSchema) },
    async handle({ actor, actorNow, repo, params }) {
      await deletePullRequestRef(actor, discussionName(repo, params.num), actorNow);
      return success;
    },
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/discussions/{num}/title", {
    operationId: "renameRepoDiscussion",
    action: "discussion.update",
    actor: "token",
    summary: "Rename a discussion of a {type}",
    body: newTitleSchema,
    responses: { 200: json("The event that records the change", z.object({ newTitle: timelineEventSchema })) },
    handle: async ({ actor, repo, params, body }) => ({
      newTitle: eventJson(await changeTitle(actor, discussionName(repo, params.num), body)),
    }),
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/discussions/{num}/status", {
    operationId: "setRepoDiscussionStatus",
    action: "discussion.update",
    actor: "token",
    summary: "Close or reopen a discussion of a {type}",
    body: newStatusSchema,
    maxBodyBytes: 1024 * 1024,
    responses: { 200: json("The event that records the change", z.object({ newStatus: timelineEventSchema })) },
    handle: async ({ actor, repo, params, body }) => ({
      newStatus: eventJson(await changeStatus(actor, discussionName(repo, params.num), body)),
    }),
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/discussions/{num}/merge", {
    operationId: "mergeRepoPullRequest",
    action: "discussion.merge",
    actor: "token",
    summary: "Merge a pull request of a {type}",
    body: mergeSchema,
    maxBodyBytes: 1024 * 1024,
    isBodyOptional: true,
    responses: { 200: json("The new head commit of the base branch", mergedSchema), ...storageFull },
    async handle({ actor, actorNow, repo, params, body: { comment, headSha, fastForward } }) {
      const how = { comment, headSha, isFastForward: fastForward };
      const mergeCommitId = await mergePullRequest(actor, discussionName(repo, params.num), how, actorNow);
      return { ...success, mergeCommitId };
    },
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/discussions/{num}/pin", {
    operationId: "pinRepoDiscussion",
    action: "discussion.moderate",
    actor: "token",
    summary: "Pin or unpin a discussion of a {type}",
    body: pinSchema,
    isBodyOptional: true,
    responses: { 200: json("Whether the discussion is pinned", z.object({ pinned: z.boolean() })) },
    async handle({ actor, repo, params, body: { pinned } }) {
      await setPinned(actor, discussionName(repo, params.num), pinned);
      return { pinned };
    },
  }),

  defineRoute("POST /api/{TYPES}/{owner}/{name}/discussions/{num}/lock", {
    operationId: "lockRepoDiscussion",
    action: "discussion.moderate",
    actor: "token",
    summary: "Lock or unlock a discussion of a {type}; only the repository's maintainers can comment on a locked one",
    body: lockSchema,
    isBodyOptional: true,
    responses: { 200: json("Whether the discussion is locked", z.object({ locked: z.boolean() })) },
    async handle({ actor, repo, params, body: { locked }, origin }) {
      await setLocked(actor, discussionName(repo, params.num), locked, origin);
      return { locked };
    },
  }),
];

async function changesOf(repo: Repo, discussion: Discussion, mayRead: boolean) {
  const { status, baseRef, mergeCommitSha } = discussion;
  const isUnderWay = status === "open" || status === "draft";
  const find = () => ifInTime(readPullRequestState(repo, discussion), CONFLICTS_MAX_MS);
  const state = isUnderWay && mayRead ? (await find()).value : undefined;
  const filesWithConflicts = isUnderWay ? (state?.filesWithConflicts ?? null) : [];
  return { changes: { base: baseRef ?? "", ...(mergeCommitSha && { mergeCommitId: mergeCommitSha }) }, filesWithConflicts };
}
