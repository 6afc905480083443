import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";

const registry = z.object({
  standardEnvVars: z.array(z.string()).openapi({ description: "Variables in which any of them says its name." }),
  harnesses: z.record(z.string(), z.object({ envVars: z.record(z.string(), z.string()) })),
});

const route = createRoute({
  method: "get",
  path: "/api/agent-harnesses",
  summary: "Agent programs that command-line clients adapt to",
  responses: {
    200: { description: "None are known here", content: { "application/json": { schema: registry } } },
  },
});

/**
 * The hub's command-line client requests this on every command until it gets a response, which it caches for a day (C13 in
 * docs/specification/existing-clients.md). It reads both fields, and cannot start without them.
 */
export const agentHarnesses = new OpenAPIHono().openapi(route, (c) =>
  c.json({ standardEnvVars: [], harnesses: {} }, 200, { "Cache-Control": "public, max-age=86400" }),
);
