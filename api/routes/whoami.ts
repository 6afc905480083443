import { z } from "@hono/zod-openapi";
import { whoamiJobSchema, whoamiSchema } from "@keyhook/sdk";
import { whoami as describeBearer, whoamiJob as describeJob } from "#core/oauth/tokens/whoami.ts";
import { requireHolder } from "../bearer.ts";
import { defineRoute, failure, json } from "../define-route.ts";

const registry = z.object({
  standardEnvVars: z.array(z.string()).openapi({ description: "Environment variables that an agent program sets to its name." }),
  harnesses: z.record(z.string(), z.object({ envVars: z.record(z.string(), z.string()) })),
});

export const whoamiRoutes = [
  defineRoute("GET /api/whoami-v2", {
    operationId: "whoami",
    actor: "token",
    summary: "Get the token's owner",
    responses: {
      200: json("The token's user, or the repository that a CI job's token is for", z.union([whoamiSchema, whoamiJobSchema])),
      401: failure("The token is missing, unknown, expired or revoked"),
    },
    async handle({ c }) {
      const holder = await requireHolder(c);
      return holder.kind === "job" ? describeJob(holder) : describeBearer(holder);
    },
  }),

  // The hub's command-line client cannot start without both fields (C13 in docs/specification/existing-clients.md).
  defineRoute("GET /api/agent-harnesses", {
    operationId: "listAgentHarnesses",
    summary: "List the agent programs to which command-line clients adapt",
    responses: { 200: json("An empty list: the service knows none", registry) },
    cacheControl: "public, max-age=86400",
    handle: () => ({ standardEnvVars: [], harnesses: {} }),
  }),
];
