import { OpenAPIHono } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import { answerError, answerNotFound } from "./answer-error.ts";
import { describeApi } from "./openapi/describe-api.ts";
import { refuseBadInput } from "./refuse-bad-input.ts";
import { agentHarnesses } from "./routes/agent-harnesses.ts";
import { appRoutes } from "./routes/apps/index.ts";
import { auditRoutes } from "./routes/audit/index.ts";
import { collectionRoutes } from "./routes/collections/index.ts";
import { commitRoutes } from "./routes/commits/index.ts";
import { contentRoutes } from "./routes/content/index.ts";
import { discussionRoutes } from "./routes/discussions/index.ts";
import { gateRoutes } from "./routes/gates/index.ts";
import { gitRoutes } from "./routes/git/index.ts";
import { images } from "./routes/images.ts";
import { answerInferenceError } from "./routes/inference/answer-inference-error.ts";
import { inferenceRoutes } from "./routes/inference/index.ts";
import { jobRoutes } from "./routes/jobs/index.ts";
import { lfsRoutes } from "./routes/lfs/index.ts";
import { peopleRoutes } from "./routes/people/index.ts";
import { platformRoutes } from "./routes/platforms/index.ts";
import { relayRoutes } from "./routes/relays/index.ts";
import { repoRoutes } from "./routes/repos/index.ts";
import { spaceRoutes } from "./routes/spaces/index.ts";
import { webhookRoutes } from "./routes/webhooks/index.ts";
import { whoami } from "./routes/whoami.ts";

/** Door 2, programs: each route is defined once, which yields routing, validation and the OpenAPI document. */
export const api = new OpenAPIHono();

// Clients of the gateway expect its own error format, also for errors common to all requests.
api.onError((thrown, c) => (c.req.path.startsWith("/v1/") ? answerInferenceError(thrown, c) : answerError(thrown, c)));
api.notFound(answerNotFound);

// S53: tokens are sent in a header that a page must know, never in a cookie, so any origin may call.
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

api.use(refuseBadInput);

api.route("/", whoami);
api.route("/", agentHarnesses);
api.route("/", images);
for (const routes of [
  repoRoutes,
  spaceRoutes,
  contentRoutes,
  commitRoutes,
  gateRoutes,
  discussionRoutes,
  collectionRoutes,
  peopleRoutes,
  auditRoutes,
  platformRoutes,
  lfsRoutes,
  jobRoutes,
  inferenceRoutes,
  webhookRoutes,
  relayRoutes,
  appRoutes,
]) {
  api.route("/", routes);
}
api.route("/", gitRoutes);

describeApi(api);
