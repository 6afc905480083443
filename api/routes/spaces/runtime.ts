import { createRoute, z } from "@hono/zod-openapi";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { spaceSubdomain } from "#core/hub/repos/repo.ts";
import { appUrl } from "#core/spaces/app-address.ts";
import { pauseSpace } from "#core/spaces/controls/pause-space.ts";
import { restartSpace } from "#core/spaces/controls/restart-space.ts";
import { setSleepTime } from "#core/spaces/controls/set-sleep-time.ts";
import { readSpaceRuntime } from "#core/spaces/space-runtime.ts";
import { actorOf, requirePersonsToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withOrWithoutToken, withToken } from "../open-api.ts";
import { repoParams } from "../repos/repo-address.ts";
import { runtimeJson, runtimeSchema } from "./space-json.ts";

const path = "/api/spaces/{owner}/{name}" as const;
const params = { params: repoParams };
const answers = (description: string) => ({
  200: { description, content: { "application/json": { schema: runtimeSchema } } },
});

const read = createRoute({
  method: "get",
  path: `${path}/runtime`,
  summary: "How a Space is doing",
  security: withOrWithoutToken,
  request: params,
  responses: answers("Its stage, and since when"),
});

const host = createRoute({
  method: "get",
  path: `${path}/host`,
  summary: "Where the app of a Space is",
  security: withOrWithoutToken,
  request: params,
  responses: {
    200: {
      description: "Its address",
      content: { "application/json": { schema: z.object({ host: z.string(), subdomain: z.string() }) } },
    },
  },
});

const restart = createRoute({
  method: "post",
  path: `${path}/restart`,
  summary: "Start a Space anew from its latest commit",
  security: withToken,
  request: {
    ...params,
    query: z.object({
      factory: z.string().optional().openapi({ description: "Taken and not needed: nothing is kept between runs." }),
    }),
  },
  responses: answers("It is being started"),
});

const pause = createRoute({
  method: "post",
  path: `${path}/pause`,
  summary: "Stop a Space until it is restarted",
  security: withToken,
  request: params,
  responses: answers("It is paused"),
});

const sleepTime = createRoute({
  method: "post",
  path: `${path}/sleeptime`,
  summary: "Set after how long without a request a Space sleeps",
  security: withToken,
  request: {
    ...params,
    body: { required: true, content: { "application/json": { schema: z.object({ seconds: z.number() }) } } },
  },
  responses: answers("It is set"),
});

export const spaceRuntimeRoutes = openApiRoutes()
  .openapi(read, async (c) => {
    const repo = await findRepo(await actorOf(c), { type: "space", ...c.req.valid("param") });
    return c.json(runtimeJson(repo, await readSpaceRuntime(repo.id)), 200);
  })
  .openapi(host, async (c) => {
    const repo = await findRepo(await actorOf(c), { type: "space", ...c.req.valid("param") });
    return c.json({ host: appUrl(repo).replace(/\/$/, ""), subdomain: spaceSubdomain(repo) }, 200);
  })
  .openapi(restart, async (c) => {
    const { actor } = await requirePersonsToken(c);
    const { repo, runtime } = await restartSpace(actor, c.req.valid("param"), requestOriginOf(c));
    return c.json(runtimeJson(repo, runtime), 200);
  })
  .openapi(pause, async (c) => {
    const { actor } = await requirePersonsToken(c);
    const { repo, runtime } = await pauseSpace(actor, c.req.valid("param"), requestOriginOf(c));
    return c.json(runtimeJson(repo, runtime), 200);
  })
  .openapi(sleepTime, async (c) => {
    const { actor } = await requirePersonsToken(c);
    const { seconds } = c.req.valid("json");
    const { repo, runtime } = await setSleepTime(actor, c.req.valid("param"), seconds, requestOriginOf(c));
    return c.json(runtimeJson(repo, runtime), 200);
  });
