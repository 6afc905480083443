import { createRoute, z } from "@hono/zod-openapi";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { actorOf } from "../../actor.ts";
import { openApiRoutes, withOrWithoutToken } from "../open-api.ts";
import { repoAddresses, repoParams } from "./repo-address.ts";

const checks = [
  { path: "auth-check", action: "repo.read_content", summary: "Whether its content may be read" },
  { path: "auth-check/write", action: "repo.write", summary: "Whether it may be written to" },
] as const;

/**
 * Only the status matters (docs/specification/repositories-and-git.md#repository-operations): the same decision as for a clone or a push.
 */
export const authCheckRoutes = openApiRoutes();

for (const { type, base } of repoAddresses) {
  for (const { path, action, summary } of checks) {
    const route = createRoute({
      method: "get",
      path: `${base}/{owner}/{name}/${path}`,
      summary: `${summary} (${type})`,
      security: withOrWithoutToken,
      request: { params: repoParams },
      responses: { 200: { description: "It may", content: { "application/json": { schema: z.object({}) } } } },
    });
    authCheckRoutes.openapi(route, async (c) => {
      await findRepo(await actorOf(c), { type, ...c.req.valid("param") }, action);
      return c.json({}, 200, { "Cache-Control": "no-store" });
    });
  }
}
