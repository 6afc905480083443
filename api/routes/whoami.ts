import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { errorBodySchema, whoamiJobSchema, whoamiSchema } from "@keyhook/sdk";
import { whoami as describeBearer } from "#core/oauth/whoami.ts";
import { whoamiJob as describeJob } from "#core/oauth/whoami-job.ts";
import { requireHolder } from "../bearer.ts";

const route = createRoute({
  method: "get",
  path: "/api/whoami-v2",
  summary: "Whose token this is",
  security: [{ bearer: [] }, { dpop: [] }],
  responses: {
    200: {
      description: "The token's user, or the repository that a job's token is for",
      content: { "application/json": { schema: z.union([whoamiSchema, whoamiJobSchema]) } },
    },
    401: {
      description: "No token, or one that is unknown, expired or revoked",
      content: { "application/json": { schema: errorBodySchema } },
    },
  },
});

export const whoami = new OpenAPIHono().openapi(route, async (c) => {
  const holder = await requireHolder(c);
  const body = holder.kind === "job" ? describeJob(holder) : describeBearer(holder);
  return c.json(body, 200, { "Cache-Control": "no-store" });
});
