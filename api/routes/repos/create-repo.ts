import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema, repoPath } from "@keyhook/sdk";
import type { Context } from "hono";
import { env } from "#core/env.ts";
import { isServiceError, type ServiceError } from "#core/errors.ts";
import { createRepoWithFiles, FILES_MAX } from "#core/hub/repos/create-repo-with-files.ts";
import { findRepo, type RepoName } from "#core/hub/repos/find-repo.ts";
import { repoWebUrl } from "#core/hub/repos/repo.ts";
import { requirePersonsToken } from "../../actor.ts";
import { answerError } from "../../answer-error.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { decodeFile, fileSchema } from "../commits/commit-lines.ts";
import { listOf, openApiRoutes, storageFull, withToken } from "../open-api.ts";
import { typeField } from "./repo-address.ts";

const body = z.object({
  name: z.string(),
  organization: z.string().nullish().openapi({ description: "Its owner, user or organization; yourself when left out." }),
  type: typeField,
  visibility: z.enum(["public", "private"]).nullish().openapi({ description: "Newer clients send this, older ones `private`." }),
  private: z.boolean().nullish(),
  sdk: z.string().nullish().openapi({ description: "Of a Space: static, docker …" }),
  license: z.string().nullish().openapi({ description: "Said in the front matter of a first README." }),
  files: listOf(fileSchema, { max: FILES_MAX, of: "files" })
    .nullish()
    .openapi({ description: "The first commit, of a few small files." }),
});

const route = createRoute({
  method: "post",
  path: "/api/repos/create",
  summary: "Create a repository",
  security: withToken,
  request: { body: { required: true, content: { "application/json": { schema: body } } } },
  responses: {
    200: {
      description: "The repository",
      content: { "application/json": { schema: z.object({ url: z.string(), name: z.string(), id: z.string() }) } },
    },
    409: {
      description: "There is one of that name; `url` says where",
      content: { "application/json": { schema: errorBodySchema.extend({ url: z.string() }) } },
    },
    ...storageFull,
  },
});

export const createRepoRoute = openApiRoutes().openapi(route, async (c) => {
  const { actor, account } = await requirePersonsToken(c);
  const { name, organization, type, visibility, private: isPrivate, sdk, license, files } = c.req.valid("json");
  const wanted = { type: type ?? "model", owner: organization ?? account.username, name };
  try {
    const repo = await createRepoWithFiles(
      actor,
      {
        ...wanted,
        isPrivate: visibility ? visibility === "private" : (isPrivate ?? false),
        ...(sdk && { sdk }),
        license: license ?? undefined,
        files: files?.map((file) => ({ path: file.path, content: decodeFile(file) })),
      },
      requestOriginOf(c),
    );
    return c.json({ url: repoWebUrl(repo), name: repo.fullName, id: repo.id }, 200);
  } catch (error) {
    if (!isServiceError(error) || error.code !== "conflict") throw error;
    const there = await findRepo(actor, wanted as RepoName).catch(() => undefined);
    // A user who may not see it learns from the conflict itself that it exists, and knows its URL from their own request.
    const url = there ? repoWebUrl(there) : env().ORIGIN + repoPath(wanted.type, `${wanted.owner}/${wanted.name}`);
    return answerConflict(c, error, url) as never;
  }
});

/** Clients told to accept an existing repository continue with its URL. */
async function answerConflict(c: Context, error: ServiceError, url: string): Promise<Response> {
  const answer = answerError(error, c);
  return c.json({ ...((await answer.json()) as object), url }, 409, Object.fromEntries(answer.headers));
}
