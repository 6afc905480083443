import { createRoute, z } from "@hono/zod-openapi";
import { deleteRepo } from "#core/hub/repos/delete-repo.ts";
import { requirePersonsToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { typeField } from "./repo-address.ts";

const body = z.object({
  name: z.string(),
  organization: z.string().nullish().openapi({ description: "Its owner, user or organization; yourself when left out." }),
  type: typeField,
});

const route = createRoute({
  method: "delete",
  path: "/api/repos/delete",
  summary: "Delete a repository",
  security: withToken,
  request: { body: { required: true, content: { "application/json": { schema: body } } } },
  responses: { 200: { description: "It is gone", content: { "application/json": { schema: z.object({}) } } } },
});

export const deleteRepoRoute = openApiRoutes().openapi(route, async (c) => {
  const { actor, account } = await requirePersonsToken(c);
  const { name, organization, type } = c.req.valid("json");
  await deleteRepo(actor, { type: type ?? "model", owner: organization ?? account.username, name }, requestOriginOf(c));
  return c.json({}, 200);
});
