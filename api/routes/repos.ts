import { z } from "@hono/zod-openapi";
import {
  deletedRepoSchema,
  errorBodySchema,
  movedRepoSchema,
  newFileSchema,
  newRepoSchema,
  type RepoType,
  repoPath,
  repoPlaceSchema,
  repoSchema,
  repoSettingsSchema,
  repoTypes,
} from "@keyhook/sdk";
import type { Context } from "hono";
import type { Actor } from "#core/access/actor.ts";
import { env } from "#core/env.ts";
import { invalidRequest, isServiceError } from "#core/errors.ts";
import { deleteRepo } from "#core/hub/repos/change-repo.ts";
import { createRepoWithFiles, FILES_MAX } from "#core/hub/repos/create-repo.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import { listRepos, REPO_LIST_MAX } from "#core/hub/repos/list-repos.ts";
import { listTags } from "#core/hub/repos/list-tags.ts";
import { moveRepo } from "#core/hub/repos/move-repo.ts";
import { repoWebUrl } from "#core/hub/repos/repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { answerError } from "../answer-error.ts";
import { defineRoute, json, type Route, storageFull } from "../define-route.ts";
import { linkNextPage } from "../next-page.ts";
import { listOf } from "../refuse-bad-input.ts";
import { decodeFile } from "./commits/commit-lines.ts";
import { repoJson } from "./repo-json.ts";

const LIST_LIMIT = 100;

const storedRepoSchema = z.object({
  id: z.string(),
  type: z.enum(repoTypes),
  visibility: z.enum(["public", "private"]),
  updatedAt: z.iso.datetime(),
  storage: z.number().openapi({ description: "The size in git and Git LFS, in bytes." }),
});

const tagsByTypeSchema = z.object({ other: z.array(z.object({ id: z.string(), label: z.string(), type: z.string() })) });

/** Existing clients send these filters. They are refused, because ignoring one would give a wrong result. */
const unsupported = ["apps", "gated", "inference", "inference_provider", "library", "pipeline_tag", "trained_dataset"] as const;

export const repoRoutes = [
  defineRoute("POST /api/repos/create", {
    operationId: "createRepository",
    action: "repo.create",
    actor: "user",
    summary: "Create a repository",
    // The body contains the first files of the new repository.
    maxBodyBytes: 16 * 1024 * 1024,
    body: newRepoSchema.extend({
      files: listOf(newFileSchema, { max: FILES_MAX, of: "files" })
        .nullish()
        .openapi({ description: "A few small files for the first commit." }),
    }),
    responses: {
      200: json("The repository", repoPlaceSchema),
      409: json("A repository with this name exists; `url` is its URL", errorBodySchema.extend({ url: z.string() })),
      ...storageFull,
    },
    async handle({ c, actor, account, body, origin }) {
      const { name, organization, type, visibility, private: isPrivate, sdk, license, files, autoInit } = body;
      const repoName = { type: type ?? "model", owner: organization ?? account.username, name };
      try {
        const repo = await createRepoWithFiles(
          actor,
          {
            ...repoName,
            isPrivate: visibility ? visibility === "private" : (isPrivate ?? undefined),
            ...(sdk && { sdk }),
            license: license ?? undefined,
            autoInit: autoInit ?? true,
            files: files?.map((file) => ({ path: file.path, content: decodeFile(file) })),
          },
          origin,
        );
        return { url: repoWebUrl(repo), name: repo.fullName, id: repo.id };
      } catch (error) {
        return answerTaken(c, actor, repoName, error);
      }
    },
  }),

  defineRoute("POST /api/repos/move", {
    operationId: "moveRepository",
    action: "repo.manage",
    actor: "user",
    summary: "Rename a repository, or move it to another owner",
    body: movedRepoSchema,
    responses: { 200: json("The repository's new URL, to which the old name redirects", repoPlaceSchema), ...storageFull },
    async handle({ actor, account, body: { fromRepo, toRepo, type: given }, origin }) {
      const type = given ?? "model";
      const from = parseFullName(fromRepo, type, account.username, "fromRepo");
      const to = parseFullName(toRepo, type, account.username, "toRepo");
      const repo = await moveRepo(actor, from, to, origin);
      return { url: repoWebUrl(repo), name: repo.fullName, id: repo.id };
    },
  }),

  defineRoute("DELETE /api/repos/delete", {
    operationId: "deleteRepository",
    action: "repo.manage",
    actor: "user",
    summary: "Delete a repository",
    body: deletedRepoSchema,
    responses: { 200: json("Deleted", z.object({})) },
    async handle({ actor, account, body: { name, organization, type }, origin }) {
      await deleteRepo(actor, { type: type ?? "model", owner: organization ?? account.username, name }, origin);
      return {};
    },
  }),

  defineRoute("GET /api/{TYPES}", {
    operationId: "listRepos",
    action: "repo.read",
    actor: "anyone",
    summary: "List {type}s",
    query: z
      .looseObject({
        search: z.string().optional().openapi({
          description: "Words in the name. A word of fewer than three characters matches only the beginning of the name.",
        }),
        author: z.string().optional().openapi({ description: "The handle of a user or an organization." }),
        filter: z
          .union([z.string(), z.array(z.string()).max(100)])
          .optional()
          .openapi({ description: "Only repositories with all of these tags." }),
        sort: z.string().optional().openapi({
          description:
            "`createdAt`. Any other value means `lastModified`, because the service does not count downloads and does not sort by likes.",
        }),
        direction: z.enum(["-1", "1"]).optional().openapi({ description: "`-1` (default): newest first." }),
        limit: z.coerce
          .number()
          .int()
          .min(1)
          .optional()
          .openapi({
            description: `The number of repositories on a page: at most ${REPO_LIST_MAX.toLocaleString("en")}, by default ${LIST_LIMIT}.`,
          }),
        full: z.string().optional().openapi({ description: "Accepted but ignored: every response has all fields." }),
        cursor: z
          .string()
          .optional()
          .openapi({ description: "The position of the page, from the next page's URL in the header `Link`." }),
      })
      .superRefine(refuseUnsupported),
    responses: { 200: json("The repositories that the caller may read", z.array(repoSchema)) },
    async handle({ c, actor, type, query: { search, author, filter, sort, direction, limit = LIST_LIMIT, cursor } }) {
      const { repos, nextCursor } = await listRepos(actor, {
        type,
        ...(search && { search }),
        ...(author && { owner: author }),
        ...(filter && { tags: [filter].flat() }),
        sort: sort === "createdAt" ? "created" : "updated",
        isOldestFirst: direction === "1",
        limit,
        ...(cursor !== undefined && { cursor }),
      });
      if (nextCursor) linkNextPage(c, { cursor: nextCursor });
      return repos.map(repoJson);
    },
  }),

  defineRoute("GET /api/{TYPES}-tags-by-type", {
    operationId: "listRepoTags",
    summary: "List the tags of public {type}s",
    description: "The most used tags. All have the same type, because the service does not classify tags by subject.",
    responses: { 200: json("The tags, by type", tagsByTypeSchema) },
    async handle({ type }) {
      return { other: (await listTags(type)).map((tag) => ({ id: tag, label: tag, type: "other" })) };
    },
  }),

  defineRoute("GET /api/settings/repositories", {
    operationId: "listOwnStorage",
    action: "repo.read",
    actor: "user",
    summary: "List the user's repositories and the storage that each uses",
    query: z.object({ cursor: z.string().optional() }),
    responses: { 200: json("The repositories, most recently changed first", z.array(storedRepoSchema)) },
    async handle({ c, actor, account, query: { cursor } }) {
      const own = { owner: account.username, limit: LIST_LIMIT };
      const { repos, nextCursor } = await listRepos(actor, { ...own, ...(cursor !== undefined && { cursor }) });
      if (nextCursor) linkNextPage(c, { cursor: nextCursor });
      return repos.map((repo) => ({
        id: repo.fullName,
        type: repo.type,
        visibility: repo.isPrivate ? ("private" as const) : ("public" as const),
        updatedAt: repo.updatedAt.toISOString(),
        storage: repo.sizeBytes + repo.lfsBytes,
      }));
    },
  }),

  // Newer clients send PUT, older ones POST.
  ...(["PUT", "POST"] as const).map((method) =>
    defineRoute(`${method} /api/{TYPES}/{owner}/{name}/settings`, {
      operationId: method === "PUT" ? "updateRepoSettings" : "postRepoSettings",
      action: "repo.manage",
      actor: "token",
      summary: "Update the settings of a {type}",
      description: "Absent fields stay unchanged. All changes of one request are recorded as one event.",
      body: repoSettingsSchema,
      responses: { 200: json("The repository", repoSchema) },
      async handle({ actor, repo, body, origin }) {
        const { visibility, private: isPrivate, readOnly, defaultBranchProtected, discussionsDisabled, ...same } = body;
        const changes = {
          ...same,
          isPrivate: visibility ? visibility === "private" : isPrivate,
          isReadOnly: readOnly,
          isDefaultBranchProtected: defaultBranchProtected,
          hasDiscussions: discussionsDisabled === undefined ? undefined : !discussionsDisabled,
        };
        return repoJson(await updateRepoSettings(actor, repo, changes, origin));
      },
    }),
  ),

  defineRoute("GET /api/{TYPES}/{owner}/{name}/auth-check", {
    operationId: "checkRepoReadAccess",
    action: "repo.read_content",
    actor: "anyone",
    summary: "Check whether the caller may read the content of a {type}",
    responses: { 200: json("Allowed", z.object({})) },
    async handle({ actor, repo }) {
      await findRepo(actor, repo, "repo.read_content");
      return {};
    },
  }),

  defineRoute("GET /api/{TYPES}/{owner}/{name}/auth-check/write", {
    operationId: "checkRepoWriteAccess",
    action: "repo.write",
    actor: "anyone",
    summary: "Check whether the caller may write to a {type}",
    responses: { 200: json("Allowed", z.object({})) },
    async handle({ actor, repo }) {
      await findRepo(actor, repo, "repo.write");
      return {};
    },
  }),

  ...["buckets", "kernels", "endpoints"].map(refuseKind),
];

function refuseUnsupported(query: Record<string, unknown>): void {
  const refused = unsupported.find((name) => query[name] !== undefined);
  if (refused) throw invalidRequest(`This service does not filter by ${refused}.`, refused);
}

/** Clients that accept an existing repository continue with the URL in the response. */
export async function answerTaken(c: Context, actor: Actor, repoName: RepoName, error: unknown): Promise<Response> {
  if (!isServiceError(error) || error.code !== "conflict" || error.field !== "name") throw error;
  const there = await findRepo(actor, repoName).catch(() => undefined);
  // For a user who may not see the repository, the URL repeats only what the request contains.
  const url = there ? repoWebUrl(there) : env().ORIGIN + repoPath(repoName.type, `${repoName.owner}/${repoName.name}`);
  const answer = answerError(error, c);
  return c.json({ ...((await answer.json()) as object), url }, 409, Object.fromEntries(answer.headers));
}

/** A name without an owner belongs to the caller. @throws ServiceError `invalid_request` with the field */
export function parseFullName(text: string, type: RepoType, ownHandle: string, field: string): RepoName {
  const parts = text.split("/");
  const [name, owner = ownHandle] = parts.reverse();
  if (parts.length > 2 || !name || !owner) throw invalidRequest(`${field}: use owner/name.`, field);
  return { type, owner, name };
}

function refuseKind(kind: string): Route {
  return (api) => {
    api.on("ALL", [`/api/${kind}`, `/api/${kind}/*`], () => {
      throw invalidRequest(`This service has no ${kind}. Use a model, a dataset or a Space.`);
    });
  };
}
