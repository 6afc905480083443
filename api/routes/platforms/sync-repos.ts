import { createRoute, z } from "@hono/zod-openapi";
import { SYNC_MAX_REPOS, type SyncResult, syncRepos } from "#core/hub/platforms/sync-repos.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { listOf, openApiRoutes } from "../open-api.ts";
import { refusalJson, refusalSchema } from "./refusal-json.ts";
import { requirePlatform } from "./require-platform.ts";

const body = z.object({
  repos: listOf(z.unknown(), { max: SYNC_MAX_REPOS, of: "repositories" }).openapi({
    description:
      'At most 1,000 of `{type, name: "owner/name", id, private, url, description?, tags?, defaultBranch?, headSha?}`; `id` is the platform\'s own.',
  }),
  complete: z.boolean().default(false).openapi({ description: "These are all there are: what is absent goes." }),
  events: z
    .boolean()
    .default(false)
    .openapi({ description: "Record what this call changes as events. Leave it out when the platform sends events itself." }),
});

const resultSchema = refusalSchema.extend({
  id: z.string().nullable(),
  status: z.enum(["created", "updated", "moved", "unchanged", "deleted", "failed"]),
});

const route = createRoute({
  method: "post",
  path: "/api/repos/sync",
  summary: "Mirror the repositories of a platform",
  security: [{ bearer: [] }],
  request: { body: { required: true, content: { "application/json": { schema: body } } } },
  responses: {
    200: {
      description: "What became of each, in the order of the call, then those that went",
      content: { "application/json": { schema: z.object({ results: z.array(resultSchema) }) } },
    },
  },
});

export const syncReposRoute = openApiRoutes().openapi(route, async (c) => {
  const platform = await requirePlatform(c);
  const { repos, complete, events } = c.req.valid("json");
  const results = await syncRepos(platform, { repos, isComplete: complete, isRecorded: events }, requestOriginOf(c));
  return c.json({ results: results.map(resultJson) }, 200);
});

function resultJson({ id, status, refusal }: SyncResult): z.infer<typeof resultSchema> {
  return { id, status, ...(refusal && refusalJson(refusal)) };
}
