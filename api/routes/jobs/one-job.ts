import { createRoute } from "@hono/zod-openapi";
import { errorBodySchema, jobAnswerSchema, jobLabelsBodySchema } from "@keyhook/sdk";
import { ServiceError } from "#core/errors.ts";
import { findJobNamespace } from "#core/jobs/find-job-namespace.ts";
import { cancelRun } from "#core/jobs/runs/cancel-run.ts";
import { findRun } from "#core/jobs/runs/find-run.ts";
import { updateRunLabels } from "#core/jobs/runs/update-run-labels.ts";
import { requireToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { jobJson } from "./job-json.ts";
import { jobParams } from "./params.ts";

const path = "/api/jobs/{namespace}/{jobId}" as const;
const responses = { 200: { description: "The job", content: { "application/json": { schema: jobAnswerSchema } } } };

const read = createRoute({
  method: "get",
  path,
  summary: "Read a job",
  security: withToken,
  request: { params: jobParams },
  responses,
});

const cancel = createRoute({
  method: "post",
  path: `${path}/cancel`,
  summary: "Cancel a job; one that is over stays as it is",
  security: withToken,
  request: { params: jobParams },
  responses,
});

const labels = createRoute({
  method: "put",
  path: `${path}/labels`,
  summary: "Put other labels in the place of a job's",
  security: withToken,
  request: { params: jobParams, body: { required: true, content: { "application/json": { schema: jobLabelsBodySchema } } } },
  responses,
});

const expose = createRoute({
  method: "put",
  path: `${path}/expose`,
  summary: "Not offered here: a job has no address of its own; a Space that serves has one",
  security: withToken,
  request: { params: jobParams },
  responses: { 400: { description: "Always", content: { "application/json": { schema: errorBodySchema } } } },
});

export const oneJobRoutes = openApiRoutes()
  .openapi(read, async (c) => {
    const { actor } = await requireToken(c);
    const { namespace, jobId } = c.req.valid("param");
    const owner = await findJobNamespace(actor, "job.read", namespace);
    return c.json(jobJson(await findRun(actor, owner, jobId), owner, actor), 200);
  })
  .openapi(cancel, async (c) => {
    const { actor } = await requireToken(c);
    const { namespace, jobId } = c.req.valid("param");
    const owner = await findJobNamespace(actor, "job.run", namespace);
    await cancelRun(actor, owner, jobId, requestOriginOf(c));
    return c.json(jobJson(await findRun(actor, owner, jobId), owner, actor), 200);
  })
  .openapi(labels, async (c) => {
    const { actor } = await requireToken(c);
    const { namespace, jobId } = c.req.valid("param");
    await updateRunLabels(actor, namespace, jobId, c.req.valid("json").labels, requestOriginOf(c));
    const owner = await findJobNamespace(actor, "job.read", namespace);
    return c.json(jobJson(await findRun(actor, owner, jobId), owner, actor), 200);
  })
  .openapi(expose, async (c) => {
    const { actor } = await requireToken(c);
    const { namespace, jobId } = c.req.valid("param");
    await findRun(actor, await findJobNamespace(actor, "job.run", namespace), jobId);
    const sentence = "Jobs have no address of their own here. Let a Space serve what is to be reached (docs/guides/spaces.md).";
    throw new ServiceError("invalid_request", sentence);
  });
