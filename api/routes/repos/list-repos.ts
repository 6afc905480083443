import { createRoute, z } from "@hono/zod-openapi";
import { env } from "#core/env.ts";
import { ServiceError } from "#core/errors.ts";
import { listRepos, REPO_LIST_MAX } from "#core/hub/repos/list-repos.ts";
import { actorOf } from "../../actor.ts";
import { openApiRoutes, withOrWithoutToken } from "../open-api.ts";
import { repoAddresses } from "./repo-address.ts";
import { repoJson, repoSchema } from "./repo-json.ts";

const LIMIT = 100;

/** Filters of existing clients that this service lacks: ignoring a filter would give a wrong result. */
const unsupported = ["apps", "gated", "inference", "inference_provider", "library", "pipeline_tag", "trained_dataset"] as const;

const query = z.object({
  search: z
    .string()
    .optional()
    .openapi({ description: "Words in the name, of three characters or more; a shorter one begins it." }),
  author: z.string().optional().openapi({ description: "The handle of a user or an organization." }),
  filter: z
    .union([z.string(), z.array(z.string()).max(100)])
    .optional()
    .openapi({ description: "Tags: those that have all of them." }),
  sort: z
    .string()
    .optional()
    .openapi({ description: "createdAt, or whatever else: nothing is counted here, so that it is lastModified." }),
  direction: z.enum(["-1", "1"]).optional().openapi({ description: "-1, the latest first, when left out." }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .openapi({ description: `At most ${REPO_LIST_MAX} are listed at a time; ${LIMIT} when left out.` }),
  full: z.string().optional().openapi({ description: "Taken and not needed: all that is known is listed." }),
  cursor: z.string().optional().openapi({ description: "From the address of the next page in the header `Link`." }),
});

export const listReposRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  const route = createRoute({
    method: "get",
    path: base,
    summary: `List ${type}s`,
    security: withOrWithoutToken,
    request: { query },
    responses: {
      200: { description: "Those that may be read", content: { "application/json": { schema: z.array(repoSchema) } } },
    },
  });
  listReposRoutes.openapi(route, async (c) => {
    const refused = unsupported.find((name) => c.req.query(name) !== undefined);
    if (refused) throw new ServiceError("invalid_request", `This service does not filter by ${refused}.`, { field: refused });
    const { search, author, filter, sort, direction, limit = LIMIT, cursor } = c.req.valid("query");
    const { repos, nextCursor } = await listRepos(await actorOf(c), {
      type,
      ...(search && { search }),
      ...(author && { owner: author }),
      ...(filter && { tags: [filter].flat() }),
      sort: sort === "createdAt" ? "created" : "updated",
      isOldestFirst: direction === "1",
      limit,
      ...(cursor !== undefined && { cursor }),
    });
    if (nextCursor) {
      const next = new URL(c.req.url);
      next.searchParams.set("cursor", nextCursor);
      c.header("Link", `<${env().ORIGIN}${next.pathname}${next.search}>; rel="next"`);
    }
    return c.json(repos.map(repoJson), 200);
  });
}
