import { createRoute, z } from "@hono/zod-openapi";
import { moveRepo } from "#core/hub/repos/move-repo.ts";
import { repoWebUrl } from "#core/hub/repos/repo.ts";
import { requirePersonsToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, storageFull, withToken } from "../open-api.ts";
import { parseFullName, typeField } from "./repo-address.ts";

const body = z.object({
  fromRepo: z.string().openapi({ description: "`owner/name`" }),
  toRepo: z.string().openapi({ description: "`owner/name`" }),
  type: typeField,
});

const route = createRoute({
  method: "post",
  path: "/api/repos/move",
  summary: "Rename a repository, or give it another owner",
  security: withToken,
  request: { body: { required: true, content: { "application/json": { schema: body } } } },
  responses: {
    200: {
      description: "Where it is now; the name that it had leads there",
      content: { "application/json": { schema: z.object({ url: z.string(), name: z.string(), id: z.string() }) } },
    },
    ...storageFull,
  },
});

export const moveRepoRoute = openApiRoutes().openapi(route, async (c) => {
  const { actor, account } = await requirePersonsToken(c);
  const { fromRepo, toRepo, type: given } = c.req.valid("json");
  const type = given ?? "model";
  const [wanted, to] = [
    parseFullName(fromRepo, type, account.username, "fromRepo"),
    parseFullName(toRepo, type, account.username, "toRepo"),
  ];
  const repo = await moveRepo(actor, wanted, to, requestOriginOf(c));
  return c.json({ url: repoWebUrl(repo), name: repo.fullName, id: repo.id }, 200);
});
