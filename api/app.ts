import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { OpenAPIHono } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import { answerError, answerNotFound } from "./answer-error.ts";
import { refuseInvalid } from "./define-route.ts";
import { describeApi } from "./openapi/document.ts";
import { bodyLimitOf, refuseBadInput } from "./refuse-bad-input.ts";
import { appRoutes } from "./routes/apps.ts";
import { auditRoutes } from "./routes/audit.ts";
import { collectionRoutes } from "./routes/collections.ts";
import { createCommitRoute } from "./routes/commits/create-commit.ts";
import { prepareCommitRoutes } from "./routes/commits/prepare-commit.ts";
import { refRoutes } from "./routes/commits/refs.ts";
import { fileRoutes } from "./routes/content/files.ts";
import { historyRoutes } from "./routes/content/history.ts";
import { repoInfoRoutes } from "./routes/content/repo-info.ts";
import { treeRoutes } from "./routes/content/tree.ts";
import { commentRoutes } from "./routes/discussions/comments.ts";
import { discussionRoutes } from "./routes/discussions/discussions.ts";
import { duplicateRoutes } from "./routes/duplicates.ts";
import { gateRoutes } from "./routes/gates.ts";
import { gitRoutes } from "./routes/git/index.ts";
import { images } from "./routes/images.ts";
import { answerInferenceError, inferenceRoutes } from "./routes/inference.ts";
import { jobRoutes } from "./routes/jobs/jobs.ts";
import { scheduledJobRoutes } from "./routes/jobs/scheduled-jobs.ts";
import { jobStreamRoutes } from "./routes/jobs/streams.ts";
import { lfsRoutes } from "./routes/lfs/index.ts";
import { lfsFileRoutes } from "./routes/lfs-files.ts";
import { likeRoutes } from "./routes/likes.ts";
import { peopleRoutes } from "./routes/people.ts";
import { platformRoutes } from "./routes/platforms.ts";
import { relayRoutes } from "./routes/relays.ts";
import { repoRoutes } from "./routes/repos.ts";
import { spaceRoutes } from "./routes/spaces.ts";
import { activityRoutes } from "./routes/webhooks/activity.ts";
import { replayRoutes } from "./routes/webhooks/replays.ts";
import { webhookRoutes } from "./routes/webhooks/webhooks.ts";
import { whoamiRoutes } from "./routes/whoami.ts";
import { xetRoutes, xetTokenRoutes } from "./routes/xet.ts";

export const api = new OpenAPIHono({ defaultHook: refuseInvalid });

// Clients of the inference gateway expect that API's error format.
api.onError((thrown, c) => (c.req.path.startsWith("/v1/") ? answerInferenceError(thrown, c) : answerError(thrown, c)));
api.notFound(answerNotFound);

// S53: the token is in a header, never in a cookie, so pages of any origin may call the API.
api.use(
  "/api/*",
  cors({
    origin: "*",
    allowHeaders: ["Authorization", "Content-Type", "DPoP", "Last-Event-ID"],
    exposeHeaders: [
      "X-Request-Id",
      "X-Error-Code",
      "X-Error-Message",
      "Link",
      "X-Total-Count",
      "RateLimit",
      "RateLimit-Policy",
      "Retry-After",
      "WWW-Authenticate",
    ],
    maxAge: 3600,
  }),
);

// Some proxies would give a stored response to callers with other tokens.
api.use(async (c, next) => {
  await next();
  if (!c.res.headers.has("Cache-Control")) c.header("Cache-Control", "no-store");
});

api.use(refuseBadInput);

for (const addRoute of [
  ...whoamiRoutes,
  ...repoRoutes,
  ...spaceRoutes,
  ...repoInfoRoutes,
  ...treeRoutes,
  ...historyRoutes,
  ...fileRoutes,
  ...prepareCommitRoutes,
  createCommitRoute,
  ...refRoutes,
  ...duplicateRoutes,
  ...lfsFileRoutes,
  ...likeRoutes,
  ...gateRoutes,
  ...discussionRoutes,
  ...commentRoutes,
  ...collectionRoutes,
  ...peopleRoutes,
  ...auditRoutes,
  ...platformRoutes,
  ...jobRoutes,
  ...jobStreamRoutes,
  ...scheduledJobRoutes,
  ...webhookRoutes,
  ...activityRoutes,
  ...replayRoutes,
  ...relayRoutes,
  ...appRoutes,
  ...xetTokenRoutes,
  describeApi,
]) {
  addRoute(api);
}

// The OpenAPI document omits these routes, because others specify their protocols.
api.route("/", images);
api.route("/", lfsRoutes);
api.route("/", xetRoutes);
api.route("/", inferenceRoutes);
api.route("/", gitRoutes);

export const streamsBody = (method: string, pathname: string): boolean =>
  bodyLimitOf(api.router.match(method, pathname)[0].map(([[, route]]) => route)).isStreamed === true;

export const handleApi = getRequestListener(api.fetch, { overrideGlobalObjects: false }) as (
  req: IncomingMessage,
  res: ServerResponse,
) => Promise<void>;
