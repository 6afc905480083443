import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { env } from "#core/env.ts";
import { type ErrorCode, invalidRequest, isServiceError, notFound, ServiceError } from "#core/errors.ts";
import { withKeepAlive } from "#core/http/with-keep-alive.ts";
import { requireInferenceAccount } from "#core/inference/metering/allowance.ts";
import { findModel, listModels } from "#core/inference/models.ts";
import { inferenceEndpoints } from "#core/inference/requests/prepare-body.ts";
import { requestInference } from "#core/inference/requests/request-inference.ts";
import { actorLookup, requireToken } from "../actor.ts";
import { answerError } from "../answer-error.ts";
import { sendEvents } from "../events.ts";
import { takesBody } from "../refuse-bad-input.ts";

export const inferenceRoutes = new Hono();

inferenceRoutes.onError(answerInferenceError);

// S53: no cookies are used here. Clients send headers about themselves, so all request headers are allowed.
inferenceRoutes.use(
  "/v1/*",
  cors({ origin: "*", exposeHeaders: ["X-Request-Id", "Retry-After", "WWW-Authenticate"], maxAge: 3600 }),
);

inferenceRoutes.get("/v1/models", async (c) => {
  const { actor } = await requireToken(c);
  const models = await listModels(await requireInferenceAccount(actor));
  return c.json({ object: "list", data: models.map(modelJson) }, 200, { "Cache-Control": "no-store" });
});

// A model's name may contain slashes.
inferenceRoutes.get("/v1/models/:name{.+}", async (c) => {
  const { actor } = await requireToken(c);
  const account = await requireInferenceAccount(actor);
  const { name } = await findModel(account, c.req.param("name"));
  const model = (await listModels(account)).find((each) => each.name === name);
  if (!model) throw notFound("Model");
  return c.json(modelJson(model), 200, { "Cache-Control": "no-store" });
});

/** The limit is high, because conversations may contain pictures. */
const CONVERSATION = { maxBytes: 16 * 1024 * 1024, takesTokenOf: "anybody" } as const;

for (const endpoint of inferenceEndpoints) {
  inferenceRoutes.post(`/v1/${endpoint}`, takesBody(CONVERSATION), async (c) => {
    const actorNow = actorLookup(c);
    const actor = await actorNow();
    const ending = new AbortController();
    const signal = AbortSignal.any([c.req.raw.signal, ending.signal]);
    const answer = await requestInference(actor, { endpoint, body: await jsonText(c), signal });
    if (answer.kind === "events") {
      // A stream may last half an hour, so access is checked repeatedly (S114).
      const check = async () => requireInferenceAccount(await actorNow());
      const events = (ended: AbortSignal) => {
        ended.addEventListener("abort", () => ending.abort());
        return answer.events;
      };
      return sendEvents(c, withKeepAlive(events, { signal: c.req.raw.signal, check }));
    }
    const headers = { "Content-Type": "application/json; charset=UTF-8", "Cache-Control": "no-store" };
    if (answer.kind === "whole") return c.body(answer.json, 200, headers);
    return c.body(JSON.stringify({ error: answer.error }), answer.status as 400, headers);
  });
}

inferenceRoutes.all("/v1/*", (c) => {
  throw new ServiceError(
    "not_found",
    `${c.req.method} ${c.req.path} is not supported. ${env().ORIGIN}/docs/inference lists what is.`,
  );
});

const modelJson = ({ name, createdAt, providerName }: { name: string; createdAt: Date; providerName: string }) => ({
  id: name,
  object: "model",
  created: Math.floor(createdAt.getTime() / 1000),
  owned_by: providerName,
});

/** @throws ServiceError `invalid_request` for other media types, because other sites can send some of them without a preflight */
async function jsonText(c: Context): Promise<string> {
  if (!/^application\/json\s*(;|$)/i.test(c.req.header("Content-Type") ?? "")) {
    throw invalidRequest("Send the body as application/json.");
  }
  return c.req.text();
}

/** Clients distinguish failures by `type` and `code`. Without `code`, our own code is sent. */
const words: Record<ErrorCode, { type: string; code?: string }> = {
  invalid_request: { type: "invalid_request_error" },
  payload_too_large: { type: "invalid_request_error" },
  unauthorized: { type: "invalid_request_error", code: "invalid_api_key" },
  insufficient_scope: { type: "permission_error" },
  forbidden: { type: "permission_error" },
  reauthentication_required: { type: "permission_error" },
  quota_exceeded: { type: "insufficient_quota", code: "insufficient_quota" },
  not_found: { type: "invalid_request_error" },
  conflict: { type: "invalid_request_error" },
  gone: { type: "invalid_request_error" },
  precondition_failed: { type: "invalid_request_error" },
  rate_limited: { type: "rate_limit_error", code: "rate_limit_exceeded" },
  upstream_error: { type: "upstream_error" },
  upstream_timeout: { type: "upstream_error" },
  server_error: { type: "server_error" },
  unavailable: { type: "server_error" },
  storage_full: { type: "insufficient_quota" },
};

export async function answerInferenceError(thrown: Error, c: Context): Promise<Response> {
  const answered = answerError(thrown, c);
  const { error: message, code } = (await answered.json()) as { error: string; code: ErrorCode };
  const field = isServiceError(thrown) ? thrown.field : undefined;
  const { type, code: word = code } = words[code];
  const isModel = code === "not_found" && field === "model";
  const error = { message, type, code: isModel ? "model_not_found" : word, param: field ?? null };
  return new Response(JSON.stringify({ error }), { status: answered.status, headers: withJson(answered.headers, code) });
}

/** Clients retry automatically, so a header tells them when a retry cannot help. */
function withJson(given: Headers, code: ErrorCode): Headers {
  const headers = new Headers(given);
  headers.set("Content-Type", "application/json; charset=UTF-8");
  if (code === "quota_exceeded") headers.set("X-Should-Retry", "false");
  return headers;
}
