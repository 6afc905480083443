import { OpenAPIHono } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import { env } from "#core/env.ts";
import { answerError, answerNotFound } from "./answer-error.ts";
import { refuseBadInput } from "./refuse-bad-input.ts";
import { agentHarnesses } from "./routes/agent-harnesses.ts";
import { images } from "./routes/images.ts";
import { createRepoRoute } from "./routes/repos/create-repo.ts";
import { whoami } from "./routes/whoami.ts";

/** Door 2, programs: each route is defined once, and that gives routing, validation and the OpenAPI document. */
export const api = new OpenAPIHono();

api.onError(answerError);
api.notFound(answerNotFound);

// S53: tokens travel in a header that a page must know, never in a cookie, so that any origin may call.
api.use(
  "/api/*",
  cors({
    origin: "*",
    allowHeaders: ["Authorization", "Content-Type", "DPoP"],
    exposeHeaders: [
      "X-Request-Id",
      "X-Error-Code",
      "X-Error-Message",
      "Link",
      "RateLimit",
      "RateLimit-Policy",
      "WWW-Authenticate",
    ],
    maxAge: 3600,
  }),
);

api.use(refuseBadInput);

api.route("/", whoami);
api.route("/", agentHarnesses);
api.route("/", images);
api.route("/", createRepoRoute);

api.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
api.openAPIRegistry.registerComponent("securitySchemes", "dpop", { type: "http", scheme: "dpop" });
api.doc31("/api/openapi.json", () => ({
  openapi: "3.1.0",
  info: { title: `${env().BRAND_NAME} API`, version: "1" },
  servers: [{ url: env().ORIGIN }],
}));
