import { createRoute, z } from "@hono/zod-openapi";
import { avatarUrl } from "#core/accounts/avatar-url.ts";
import { countOwnedRepos } from "#core/hub/owners/count-owned-repos.ts";
import { listSharedOrganizations } from "#core/hub/owners/list-shared-organizations.ts";
import { actorOf } from "../../actor.ts";
import { openApiRoutes, withOrWithoutToken } from "../open-api.ts";
import { findPublicOwner } from "./find-public-owner.ts";

const schema = z.object({
  _id: z.string(),
  type: z.literal("user"),
  user: z.string().openapi({ description: "The handle." }),
  fullname: z.string(),
  avatarUrl: z.string(),
  createdAt: z.string(),
  isPro: z.boolean(),
  numModels: z.number(),
  numDatasets: z.number(),
  numSpaces: z.number(),
  orgs: z
    .array(z.object({ id: z.string(), name: z.string(), fullname: z.string(), avatarUrl: z.string() }))
    .openapi({ description: "Those that whoever asks is in as well: memberships are for members to see." }),
});

const route = createRoute({
  method: "get",
  path: "/api/users/{name}/overview",
  summary: "A user, as anybody may see them",
  security: withOrWithoutToken,
  request: { params: z.object({ name: z.string() }) },
  responses: { 200: { description: "The user", content: { "application/json": { schema } } } },
});

export const userOverviewRoute = openApiRoutes().openapi(route, async (c) => {
  const actor = await actorOf(c);
  const owner = await findPublicOwner(c.req.valid("param").name, "user");
  const [counts, organizations] = await Promise.all([countOwnedRepos(actor, owner.id), listSharedOrganizations(actor, owner.id)]);
  return c.json(
    {
      _id: owner.id,
      type: "user" as const,
      user: owner.handle,
      fullname: owner.fullName,
      avatarUrl: avatarUrl(owner.handle),
      createdAt: owner.createdAt.toISOString(),
      isPro: false,
      numModels: counts.model,
      numDatasets: counts.dataset,
      numSpaces: counts.space,
      orgs: organizations.map(({ id, name, fullName }) => ({ id, name, fullname: fullName, avatarUrl: avatarUrl(name) })),
    },
    200,
  );
});
