import { createRoute } from "@hono/zod-openapi";
import { jobAnswerSchema, jobBodySchema, jobSpecOf } from "@keyhook/sdk";
import { findRun } from "#core/jobs/runs/find-run.ts";
import { duplicateRun, requestRun } from "#core/jobs/runs/request-run.ts";
import { requirePersonsToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { jobJson } from "./job-json.ts";
import { jobParams, namespaceParams } from "./params.ts";

const responses = { 200: { description: "The job", content: { "application/json": { schema: jobAnswerSchema } } } };

const run = createRoute({
  method: "post",
  path: "/api/jobs/{namespace}",
  summary: "Run a job",
  security: withToken,
  request: {
    params: namespaceParams,
    body: { required: true, content: { "application/json": { schema: jobBodySchema } } },
  },
  responses,
});

const duplicate = createRoute({
  method: "post",
  path: "/api/jobs/{namespace}/{jobId}/duplicate",
  summary: "Run a job again, with its secrets",
  security: withToken,
  request: { params: jobParams },
  responses,
});

export const runJobRoutes = openApiRoutes()
  .openapi(run, async (c) => {
    const { actor } = await requirePersonsToken(c);
    const { namespace } = c.req.valid("param");
    const { owner, runId } = await requestRun(actor, namespace, jobSpecOf(c.req.valid("json")), requestOriginOf(c));
    return c.json(jobJson(await findRun(actor, owner, runId), owner, actor), 200);
  })
  .openapi(duplicate, async (c) => {
    const { actor } = await requirePersonsToken(c);
    const { namespace, jobId } = c.req.valid("param");
    const { owner, runId } = await duplicateRun(actor, namespace, jobId, requestOriginOf(c));
    return c.json(jobJson(await findRun(actor, owner, runId), owner, actor), 200);
  });
