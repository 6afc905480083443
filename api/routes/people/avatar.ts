import { createRoute, z } from "@hono/zod-openapi";
import { avatarUrl } from "#core/accounts/avatar-url.ts";
import { openApiRoutes } from "../open-api.ts";
import { findPublicOwner } from "./find-public-owner.ts";

export const avatarRoutes = openApiRoutes();

for (const [segment, kind] of [
  ["users", "user"],
  ["organizations", "organization"],
] as const) {
  const route = createRoute({
    method: "get",
    path: `/api/${segment}/{name}/avatar`,
    summary: `Where the picture of a ${kind} is`,
    request: { params: z.object({ name: z.string() }) },
    responses: {
      200: { description: "Its address", content: { "application/json": { schema: z.object({ avatarUrl: z.string() }) } } },
    },
  });
  avatarRoutes.openapi(route, async (c) => {
    const owner = await findPublicOwner(c.req.valid("param").name, kind);
    return c.json({ avatarUrl: avatarUrl(owner.handle) }, 200);
  });
}
