import { z } from "@hono/zod-openapi";
import { hardwareSchema, jobAnswerSchema, jobBodySchema, jobLabelsBodySchema, jobSpecOf } from "@keyhook/sdk";
import { env } from "#core/env.ts";
import { invalidRequest } from "#core/errors.ts";
import { findJobNamespace } from "#core/jobs/find-job-namespace.ts";
import { flavors } from "#core/jobs/flavors.ts";
import { cancelRun, updateRunLabels } from "#core/jobs/runs/change-run.ts";
import { countRuns, findRun, listRuns, type RunSearch } from "#core/jobs/runs/find-run.ts";
import { duplicateRun, requestRun } from "#core/jobs/runs/request-run.ts";
import { jobStages } from "#core/jobs/stages.ts";
import { defineRoute, failure, json } from "../../define-route.ts";
import { linkNextPage } from "../../next-page.ts";
import { jobJson, listedJobJson, namespace } from "./job-json.ts";

const FILTERS_MAX = 20;

const oneOrMore = z.union([z.string(), z.array(z.string()).max(FILTERS_MAX)]).optional();
const filters = z.object({
  stage: oneOrMore.openapi({ description: `Only jobs in one of these stages: ${jobStages.join(", ")}.` }),
  label: oneOrMore.openapi({ description: "Only jobs with all of these labels, each as `name=value`." }),
});

const params = { namespace };
const theJob = { 200: json("The job", jobAnswerSchema) };

/** The route `hardware` comes before `{namespace}`. No namespace can have this name. */
export const jobRoutes = [
  defineRoute("GET /api/jobs/hardware", {
    operationId: "listJobHardware",
    actor: "anyone",
    summary: "List the flavors that a job may request",
    responses: { 200: json("Flavors", z.array(hardwareSchema)) },
    handle: () =>
      flavors().map(({ name, cpus, memoryBytes }) => ({
        name,
        prettyName: prettyNameOf(name),
        cpu: `${cpus} vCPU`,
        ram: gigabytes(memoryBytes),
        ephemeralStorage: gigabytes(memoryBytes / 2),
        accelerator: null,
        ...{ unitCostMicroUSD: 0, unitCostUSD: 0, unitLabel: "minute" },
      })),
  }),

  defineRoute("GET /api/jobs/{namespace}/count", {
    operationId: "countJobs",
    action: "job.read",
    actor: "token",
    summary: "Count jobs",
    params,
    query: filters,
    responses: { 200: json("The number of jobs", z.object({ count: z.number() })) },
    async handle({ actor, params, query }) {
      const owner = await findJobNamespace(actor, "job.read", params.namespace);
      return { count: await countRuns(actor, owner, searchOf(query)) };
    },
  }),

  defineRoute("GET /api/jobs/{namespace}", {
    operationId: "listJobs",
    action: "job.read",
    actor: "token",
    summary: "List jobs, newest first",
    params,
    query: filters.extend({
      limit: z.coerce.number().int().positive().optional().openapi({ description: "The number of jobs on a page, at most 100." }),
      cursor: z
        .string()
        .optional()
        .openapi({ description: "The position of the page. The header `Link` has the next page's URL." }),
    }),
    responses: { 200: json("Jobs", z.array(jobAnswerSchema)) },
    async handle({ c, actor, params, query: { limit, cursor, ...asked } }) {
      const owner = await findJobNamespace(actor, "job.read", params.namespace);
      const search = { ...searchOf(asked), ...(limit && { limit }), ...(cursor && { before: cursor }) };
      const { runs, next } = await listRuns(actor, owner, search);
      if (next) linkNextPage(c, { cursor: next });
      return runs.map((run) => listedJobJson(run, owner, actor));
    },
  }),

  defineRoute("POST /api/jobs/{namespace}", {
    operationId: "runJob",
    action: "job.run",
    actor: "user",
    summary: "Run a job",
    params,
    body: jobBodySchema,
    maxBodyBytes: 1024 * 1024,
    responses: theJob,
    async handle({ actor, params, body, origin }) {
      const { owner, runId } = await requestRun(actor, params.namespace, jobSpecOf(body), origin);
      return jobJson(await findRun(actor, owner, runId), owner, actor);
    },
  }),

  defineRoute("POST /api/jobs/{namespace}/{jobId}/duplicate", {
    operationId: "duplicateJob",
    action: "job.run",
    actor: "user",
    summary: "Run a job again with the same spec and secrets",
    params,
    responses: theJob,
    async handle({ actor, params: { namespace, jobId }, origin }) {
      const { owner, runId } = await duplicateRun(actor, namespace, jobId, origin);
      return jobJson(await findRun(actor, owner, runId), owner, actor);
    },
  }),

  defineRoute("GET /api/jobs/{namespace}/{jobId}", {
    operationId: "getJob",
    action: "job.read",
    actor: "token",
    summary: "Get a job",
    params,
    responses: theJob,
    async handle({ actor, params: { namespace, jobId } }) {
      const owner = await findJobNamespace(actor, "job.read", namespace);
      return jobJson(await findRun(actor, owner, jobId), owner, actor);
    },
  }),

  defineRoute("POST /api/jobs/{namespace}/{jobId}/cancel", {
    operationId: "cancelJob",
    action: "job.run",
    actor: "token",
    summary: "Cancel a job (no effect on a finished job)",
    params,
    responses: theJob,
    async handle({ actor, params: { namespace, jobId }, origin }) {
      const owner = await findJobNamespace(actor, "job.run", namespace);
      await cancelRun(actor, owner, jobId, origin);
      return jobJson(await findRun(actor, owner, jobId), owner, actor);
    },
  }),

  defineRoute("PUT /api/jobs/{namespace}/{jobId}/labels", {
    operationId: "setJobLabels",
    action: "job.run",
    actor: "token",
    summary: "Replace a job's labels",
    params,
    body: jobLabelsBodySchema,
    responses: theJob,
    async handle({ actor, params: { namespace, jobId }, body: { labels }, origin }) {
      await updateRunLabels(actor, namespace, jobId, labels, origin);
      const owner = await findJobNamespace(actor, "job.read", namespace);
      return jobJson(await findRun(actor, owner, jobId), owner, actor);
    },
  }),

  defineRoute("PUT /api/jobs/{namespace}/{jobId}/expose", {
    operationId: "exposeJob",
    action: "job.run",
    actor: "token",
    summary: "Not supported: a job has no URL of its own (the app of a Space has one)",
    params,
    responses: { 400: failure("Returned for every request") },
    async handle({ actor, params: { namespace, jobId } }) {
      await findRun(actor, await findJobNamespace(actor, "job.run", namespace), jobId);
      const sentence = `Jobs have no URL of their own. To serve requests, use a Space: ${env().ORIGIN}/docs/spaces.`;
      throw invalidRequest(sentence);
    },
  }),
];

function searchOf({ stage, label }: z.infer<typeof filters>): Pick<RunSearch, "stages" | "labels"> {
  // Clients may ask for stages that this service does not have. Such a stage matches no job.
  const asked = stage === undefined ? undefined : [stage].flat().map((one) => one.toUpperCase());
  const labels = (label === undefined ? [] : [label].flat()).map((one) => {
    const [, name, value] = /^([A-Za-z0-9._-]{1,100})=([A-Za-z0-9._-]{0,100})$/.exec(one) ?? [];
    if (name === undefined || value === undefined)
      throw invalidRequest("label: write name=value, in letters, digits and . _ -", "label");
    return [name, value] as const;
  });
  return {
    ...(asked && { stages: jobStages.filter((one) => asked.includes(one)) }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
  };
}

const prettyNameOf = (name: string): string =>
  name.replace(/(^|-)([a-z])/g, (_, dash, letter) => (dash && " ") + letter.toUpperCase()).replace(/^Cpu/, "CPU");

const gigabytes = (bytes: number): string => `${Math.round((bytes / 1024 ** 3) * 10) / 10} GB`;
