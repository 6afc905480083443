import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";

const route = createRoute({
  method: "get",
  path: "/api/agent-harnesses",
  summary: "Agent programs that command-line clients adapt to",
  responses: {
    200: { description: "None are known here", content: { "application/json": { schema: z.array(z.string()).max(0) } } },
  },
});

/** The hub's command-line client asks on every command until it gets an answer, which it keeps for a day (wire.md 0.13). */
export const agentHarnesses = new OpenAPIHono().openapi(route, (c) =>
  c.json([], 200, { "Cache-Control": "public, max-age=86400" }),
);
