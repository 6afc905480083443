import { createRoute, OpenAPIHono } from "@hono/zod-openapi";
import { errorBodySchema, whoamiSchema } from "@keyhook/sdk";
import { whoami as describeBearer } from "#core/oauth/whoami.ts";
import { requireBearer } from "../bearer.ts";

const route = createRoute({
  method: "get",
  path: "/api/whoami-v2",
  summary: "Whose token this is",
  security: [{ bearer: [] }, { dpop: [] }],
  responses: {
    200: { description: "The token's user", content: { "application/json": { schema: whoamiSchema } } },
    401: {
      description: "No token, or one that is unknown, expired or revoked",
      content: { "application/json": { schema: errorBodySchema } },
    },
  },
});

export const whoami = new OpenAPIHono().openapi(route, async (c) => {
  const body = describeBearer(await requireBearer(c));
  return c.json(body, 200, { "Cache-Control": "no-store" });
});
