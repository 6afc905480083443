import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema, repoTypes } from "@keyhook/sdk";
import { consumeAddressThrottle } from "#core/accounts/throttle.ts";
import { checkCard } from "#core/hub/repos/read-card.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes } from "../open-api.ts";

/** A client checks once per commit, and whole offices share an address. */
const CHECKS_OF_ADDRESS = { limit: 120, windowSeconds: 60 };

const messages = z.array(z.object({ message: z.string() }));
const answer = z.object({ errors: messages, warnings: messages });

const route = createRoute({
  method: "post",
  path: "/api/validate-yaml",
  summary: "Check the front matter of a README before it is committed",
  request: {
    body: {
      required: true,
      content: {
        "application/json": { schema: z.object({ content: z.string(), repoType: z.enum(repoTypes).default("model") }) },
      },
    },
  },
  responses: {
    200: { description: "It can be read", content: { "application/json": { schema: answer } } },
    400: {
      description: "It cannot, and why; or the request itself is not understood",
      content: { "application/json": { schema: z.union([answer.extend({ error: z.string() }), errorBodySchema]) } },
    },
  },
});

export const validateYamlRoute = openApiRoutes().openapi(route, async (c) => {
  const { content, repoType } = c.req.valid("json");
  await consumeAddressThrottle("validate-yaml", requestOriginOf(c).ip ?? "unknown", CHECKS_OF_ADDRESS);
  const found = await checkCard(content, repoType);
  const [errors, warnings] = [found.errors, found.warnings].map((all) => all.map((message) => ({ message })));
  const body = { errors: errors ?? [], warnings: warnings ?? [] };
  if (found.errors.length === 0) return c.json(body, 200);
  return c.json({ ...body, error: "The front matter of README.md cannot be read." }, 400);
});
