import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Actor } from "#core/access/actor.ts";
import { withKeepAlive } from "#core/http/with-keep-alive.ts";
import { findRepo } from "#core/hub/repos/find-repo.ts";
import { followSpaceLog } from "#core/spaces/logs/follow-space-log.ts";
import { requireToken } from "../../actor.ts";
import { forgetHolder } from "../../bearer.ts";
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
  const { actor } = await requireToken(c);
  const find = (as: Actor) => findRepo(as, { type: "space", ...c.req.valid("param") }, "repo.write");
  const repo = await find(actor);
  return sendEvents(
    c,
    withKeepAlive(pieces(repo.id, c.req.raw.signal), () => checkAgain(c, actor, find)),
  );
});

async function* pieces(repoId: string, signal: AbortSignal) {
  for await (const news of followSpaceLog(repoId, signal)) {
    yield news.map(({ at, text }) => eventOf({ data: text, timestamp: at.toISOString() })).join("");
  }
}

/**
 * Who follows it for a day must still be somebody who may (S114). A proof of possession (DPoP) is good for one look at the token only;
 * what its person may do is asked all the same.
 */
async function checkAgain(c: Context, first: Actor, find: (as: Actor) => Promise<unknown>): Promise<void> {
  const isBearer = /^bearer /i.test(c.req.header("Authorization") ?? "");
  if (isBearer) forgetHolder(c);
  await find(isBearer ? (await requireToken(c)).actor : first);
}
