import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema } from "@keyhook/sdk";
import { createTag } from "#core/hub/git/write/create-tag.ts";
import { deleteTag } from "#core/hub/git/write/delete-tag.ts";
import { actorAnew } from "../../actor.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { repoAddresses, repoParams } from "../repos/repo-address.ts";

const newTag = z.object({
  tag: z.string(),
  message: z.string().nullish().openapi({ description: "Makes it an annotated tag." }),
});

export const tagRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  const create = createRoute({
    method: "post",
    path: `${base}/{owner}/{name}/tag/{rev}`,
    summary: `Give a commit a tag (${type})`,
    security: withToken,
    request: {
      params: repoParams.extend({ rev: z.string().openapi({ description: "What to tag: any revision, slashes as %2F." }) }),
      body: { required: true, content: { "application/json": { schema: newTag } } },
    },
    responses: {
      200: {
        description: "The tag, and the commit that it is of",
        content: { "application/json": { schema: z.object({ ref: z.string(), commitOid: z.string() }) } },
      },
      409: { description: "It is there already", content: { "application/json": { schema: errorBodySchema } } },
    },
  });
  tagRoutes.openapi(create, async (c) => {
    const actorNow = actorAnew(c);
    const actor = await actorNow();
    const { owner, name, rev } = c.req.valid("param");
    const { tag, message } = c.req.valid("json");
    const { sha } = await createTag(
      actor,
      { type, owner, name },
      { tag, revision: rev, message: message ?? undefined },
      actorNow,
    );
    return c.json({ ref: `refs/tags/${tag}`, commitOid: sha }, 200);
  });

  const remove = createRoute({
    method: "delete",
    path: `${base}/{owner}/{name}/tag/{tag}`,
    summary: `Take a tag away (${type})`,
    security: withToken,
    request: { params: repoParams.extend({ tag: z.string() }) },
    responses: { 200: { description: "It is gone", content: { "application/json": { schema: z.object({}) } } } },
  });
  tagRoutes.openapi(remove, async (c) => {
    const actorNow = actorAnew(c);
    const actor = await actorNow();
    const { owner, name, tag } = c.req.valid("param");
    await deleteTag(actor, { type, owner, name }, tag, actorNow);
    return c.json({}, 200);
  });
}
