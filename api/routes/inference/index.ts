import type { Context } from "hono";
import { cors } from "hono/cors";
import { notFound, ServiceError } from "#core/errors.ts";
import { withKeepAlive } from "#core/http/with-keep-alive.ts";
import { requireInferenceAccount } from "#core/inference/metering/inference-account.ts";
import { findModel, listModels } from "#core/inference/models/find-model.ts";
import { inferenceEndpoints } from "#core/inference/requests/prepare-body.ts";
import { requestInference } from "#core/inference/requests/request-inference.ts";
import { requireToken } from "../../actor.ts";
import { askedAnew } from "../../bearer.ts";
import { openApiRoutes } from "../open-api.ts";
import { answerInferenceError } from "./answer-inference-error.ts";
import { sendEvents } from "./send-events.ts";

/**
 * The inference gateway (docs/guides/inference.md), in the words of the API that its clients know. That API is not ours, so it is not in
 * our OpenAPI document.
 */
export const inferenceRoutes = openApiRoutes();

inferenceRoutes.onError(answerInferenceError);

// S53: other sites' pages may call with a token that they hold; cookies are never used here. Headers that clients send about themselves are
// allowed.
inferenceRoutes.use(
  "/v1/*",
  cors({ origin: "*", exposeHeaders: ["X-Request-Id", "Retry-After", "WWW-Authenticate"], maxAge: 3600 }),
);

inferenceRoutes.get("/v1/models", async (c) => {
  const { actor } = await requireToken(c);
  const models = await listModels(await requireInferenceAccount(actor));
  return c.json({ object: "list", data: models.map(modelJson) }, 200, { "Cache-Control": "no-store" });
});

// A model's name may have slashes in it.
inferenceRoutes.get("/v1/models/:name{.+}", async (c) => {
  const { actor } = await requireToken(c);
  const account = await requireInferenceAccount(actor);
  const { name } = await findModel(account, c.req.param("name"));
  const model = (await listModels(account)).find((each) => each.name === name);
  if (!model) throw notFound("Model");
  return c.json(modelJson(model), 200, { "Cache-Control": "no-store" });
});

for (const endpoint of inferenceEndpoints) {
  inferenceRoutes.post(`/v1/${endpoint}`, async (c) => {
    const actorNow = askedAnew(c, async () => (await requireToken(c)).actor);
    const actor = await actorNow();
    const ending = new AbortController();
    const signal = AbortSignal.any([c.req.raw.signal, ending.signal]);
    const answer = await requestInference(actor, { endpoint, body: await jsonText(c), signal });
    if (answer.kind === "events") {
      // A stream may last half an hour: its reader must still be allowed (S114). Otherwise the provider's request is aborted too, since a
      // silent provider would be waited for.
      const check = async () => requireInferenceAccount(await actorNow());
      const checkOrEnd = () =>
        check().catch((error: unknown) => {
          ending.abort();
          throw error;
        });
      return sendEvents(c, withKeepAlive(answer.events, checkOrEnd));
    }
    const headers = { "Content-Type": "application/json; charset=UTF-8", "Cache-Control": "no-store" };
    if (answer.kind === "whole") return c.body(answer.json, 200, headers);
    return c.body(JSON.stringify({ error: answer.error }), answer.status as 400, headers);
  });
}

inferenceRoutes.all("/v1/*", (c) => {
  throw new ServiceError(
    "not_found",
    `${c.req.method} ${c.req.path} is not offered here. docs/guides/inference.md lists what is.`,
  );
});

const modelJson = ({ name, createdAt, providerName }: { name: string; createdAt: Date; providerName: string }) => ({
  id: name,
  object: "model",
  created: Math.floor(createdAt.getTime() / 1000),
  owned_by: providerName,
});

/** @throws ServiceError `invalid_request` for another media type, which a page of another site could send without a preflight */
async function jsonText(c: Context): Promise<string> {
  if (!/^application\/json\s*(;|$)/i.test(c.req.header("Content-Type") ?? "")) {
    throw new ServiceError("invalid_request", "Send the body as application/json.");
  }
  return c.req.text();
}
