import { createRoute, z } from "@hono/zod-openapi";
import { avatarUrl } from "#core/accounts/avatar-url.ts";
import { countOwnedRepos } from "#core/hub/owners/count-owned-repos.ts";
import { actorOf } from "../../actor.ts";
import { openApiRoutes, withOrWithoutToken } from "../open-api.ts";
import { findPublicOwner } from "./find-public-owner.ts";

const schema = z.object({
  _id: z.string(),
  type: z.literal("org"),
  name: z.string().openapi({ description: "The handle." }),
  fullname: z.string(),
  avatarUrl: z.string(),
  createdAt: z.string(),
  numModels: z.number(),
  numDatasets: z.number(),
  numSpaces: z.number(),
});

const route = createRoute({
  method: "get",
  path: "/api/organizations/{name}/overview",
  summary: "An organization, as anybody may see it",
  security: withOrWithoutToken,
  request: { params: z.object({ name: z.string() }) },
  responses: { 200: { description: "The organization", content: { "application/json": { schema } } } },
});

export const organizationOverviewRoute = openApiRoutes().openapi(route, async (c) => {
  const actor = await actorOf(c);
  const owner = await findPublicOwner(c.req.valid("param").name, "organization");
  const counts = await countOwnedRepos(actor, owner.id);
  return c.json(
    {
      _id: owner.id,
      type: "org" as const,
      name: owner.handle,
      fullname: owner.fullName,
      avatarUrl: avatarUrl(owner.handle),
      createdAt: owner.createdAt.toISOString(),
      numModels: counts.model,
      numDatasets: counts.dataset,
      numSpaces: counts.space,
    },
    200,
  );
});
