import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema, repoTypes } from "@keyhook/sdk";
import { createRepo } from "#core/hub/repos/create-repo.ts";
import { repoWebUrl } from "#core/hub/repos/repo.ts";
import { requireToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";

const body = z.object({
  name: z.string(),
  organization: z.string().nullish(),
  type: z.enum(repoTypes).default("model"),
  /** What newer clients send; older ones send `private`. */
  visibility: z.enum(["public", "private"]).nullish(),
  private: z.boolean().nullish(),
  sdk: z.string().max(40).nullish(),
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
    409: { description: "The name is taken", content: { "application/json": { schema: errorBodySchema } } },
  },
});

export const createRepoRoute = openApiRoutes().openapi(route, async (c) => {
  const { actor, account } = await requireToken(c);
  const { name, organization, type, visibility, private: isPrivate, sdk } = c.req.valid("json");
  const repo = await createRepo(
    actor,
    {
      type,
      owner: organization ?? account.username,
      name,
      isPrivate: visibility ? visibility === "private" : (isPrivate ?? false),
      ...(sdk && { sdk }),
    },
    requestOriginOf(c),
  );
  return c.json({ url: repoWebUrl(repo), name: repo.fullName, id: repo.id }, 200);
});
