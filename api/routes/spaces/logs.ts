import { createRoute, z } from "@hono/zod-openapi";
import { withKeepAlive } from "#core/http/with-keep-alive.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { takeLogPlace } from "#core/jobs/logs/take-log-place.ts";
import { followSpaceLog } from "#core/spaces/logs/follow-space-log.ts";
import { requireToken } from "../../actor.ts";
import { askedAnew } from "../../bearer.ts";
import { sendEvents } from "../inference/send-events.ts";
import { eventOf } from "../jobs/events.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { repoParams } from "../repos/repo-address.ts";

const logs = createRoute({
  method: "get",
  path: "/api/spaces/{owner}/{name}/logs/run",
  summary: "Follow what a Space prints",
  description: "For those who may write to it. It begins with what is kept of what it has printed, and does not end.",
  security: withToken,
  request: { params: repoParams },
  responses: {
    200: {
      description: '`data: {"data", "timestamp"}` for each piece',
      content: { "text/event-stream": { schema: z.string() } },
    },
  },
});

export const spaceLogRoutes = openApiRoutes().openapi(logs, async (c) => {
  const actorNow = askedAnew(c, async () => (await requireToken(c)).actor);
  const find = async () => findRepo(await actorNow(), { type: "space", ...c.req.valid("param") }, "repo.write");
  const { id } = await find();
  takeLogPlace();
  // A reader who follows it for a day must still be allowed (S114).
  return sendEvents(c, withKeepAlive(pieces(id, c.req.raw.signal), find));
});

async function* pieces(repoId: string, signal: AbortSignal) {
  for await (const news of followSpaceLog(repoId, signal)) {
    yield news.map(({ at, text }) => eventOf({ data: text, timestamp: at.toISOString() })).join("");
  }
}
