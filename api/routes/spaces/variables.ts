import { createRoute, z } from "@hono/zod-openapi";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { deleteSpaceVariable, setSpaceVariable } from "#core/spaces/variables/change-variables.ts";
import { listSpaceVariables } from "#core/spaces/variables/list-space-variables.ts";
import { requirePersonsToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { repoParams } from "../repos/repo-address.ts";

const variableSchema = z.object({
  key: z.string(),
  value: z.string().optional(),
  description: z.string().optional(),
  updatedAt: z.string(),
});
const listSchema = z.record(z.string(), variableSchema);
const setBody = z.object({ key: z.string(), value: z.string(), description: z.string().nullish() });
const deleteBody = z.object({ key: z.string() });

const kinds = [
  { path: "variables", isSecret: false, word: "variables" },
  { path: "secrets", isSecret: true, word: "secrets; their values are not shown" },
] as const;

/** The environment of a Space, as existing clients set it: by name, secret or not. */
export const spaceVariableRoutes = openApiRoutes();

for (const { path: segment, isSecret, word } of kinds) {
  const path = `/api/spaces/{owner}/{name}/${segment}` as const;
  const list = {
    200: { description: "All of them, by name", content: { "application/json": { schema: listSchema } } },
  };
  const read = createRoute({
    method: "get",
    path,
    summary: `A Space's ${word}`,
    security: withToken,
    request: { params: repoParams },
    responses: list,
  });
  const set = createRoute({
    method: "post",
    path,
    summary: `Set one of a Space's ${segment}, and start it again with it`,
    security: withToken,
    request: { params: repoParams, body: { required: true, content: { "application/json": { schema: setBody } } } },
    responses: list,
  });
  const remove = createRoute({
    method: "delete",
    path,
    summary: `Remove one of a Space's ${segment}, and start it again without it`,
    security: withToken,
    request: { params: repoParams, body: { required: true, content: { "application/json": { schema: deleteBody } } } },
    responses: list,
  });

  const answer = async (repoId: string) => {
    const all = (await listSpaceVariables(repoId)).filter((each) => each.isSecret === isSecret);
    return Object.fromEntries(
      all.map(({ name, value, description, updatedAt }) => [
        name,
        {
          key: name,
          ...(value !== undefined && { value }),
          ...(description && { description }),
          updatedAt: updatedAt.toISOString(),
        },
      ]),
    );
  };

  spaceVariableRoutes
    .openapi(read, async (c) => {
      const { actor } = await requirePersonsToken(c);
      const repo = await findRepo(actor, { type: "space", ...c.req.valid("param") }, "repo.manage");
      return c.json(await answer(repo.id), 200);
    })
    .openapi(set, async (c) => {
      const { actor } = await requirePersonsToken(c);
      const space = c.req.valid("param");
      const { key: name, value, description } = c.req.valid("json");
      await setSpaceVariable(actor, space, { name, value, isSecret, description }, requestOriginOf(c));
      const repo = await findRepo(actor, { type: "space", ...space }, "repo.manage");
      return c.json(await answer(repo.id), 200);
    })
    .openapi(remove, async (c) => {
      const { actor } = await requirePersonsToken(c);
      const space = c.req.valid("param");
      await deleteSpaceVariable(actor, space, { name: c.req.valid("json").key, isSecret }, requestOriginOf(c));
      const repo = await findRepo(actor, { type: "space", ...space }, "repo.manage");
      return c.json(await answer(repo.id), 200);
    });
}
