import { createRoute, z } from "@hono/zod-openapi";
import { jobAnswerSchema } from "@keyhook/sdk";
import { env } from "#core/env.ts";
import { ServiceError } from "#core/errors.ts";
import { findJobNamespace } from "#core/jobs/find-job-namespace.ts";
import { countRuns, listRuns, type RunSearch } from "#core/jobs/runs/list-runs.ts";
import { jobStages } from "#core/jobs/stages.ts";
import { requireToken } from "../../actor.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { listedJobJson } from "./job-json.ts";
import { namespaceParams } from "./params.ts";

const FILTERS_MAX = 20;

const oneOrMore = z.union([z.string(), z.array(z.string()).max(FILTERS_MAX)]).optional();

const filters = z.object({
  stage: oneOrMore.openapi({ description: `${jobStages.join(", ")}: those in any of them.` }),
  label: oneOrMore.openapi({ description: "`name=value`: those that have all of them." }),
});

const list = createRoute({
  method: "get",
  path: "/api/jobs/{namespace}",
  summary: "List jobs, the newest first",
  security: withToken,
  request: {
    params: namespaceParams,
    query: filters.extend({
      limit: z.coerce.number().int().positive().optional().openapi({ description: "At most 100." }),
      cursor: z.string().optional().openapi({ description: "The header `Link` names the next page." }),
    }),
  },
  responses: { 200: { description: "Jobs", content: { "application/json": { schema: z.array(jobAnswerSchema) } } } },
});

const count = createRoute({
  method: "get",
  path: "/api/jobs/{namespace}/count",
  summary: "Count jobs",
  security: withToken,
  request: { params: namespaceParams, query: filters },
  responses: {
    200: { description: "How many", content: { "application/json": { schema: z.object({ count: z.number() }) } } },
  },
});

export const listJobsRoutes = openApiRoutes()
  .openapi(count, async (c) => {
    const { actor } = await requireToken(c);
    const owner = await findJobNamespace(actor, "job.read", c.req.valid("param").namespace);
    return c.json({ count: await countRuns(actor, owner, searchOf(c.req.valid("query"))) }, 200);
  })
  .openapi(list, async (c) => {
    const { actor } = await requireToken(c);
    const owner = await findJobNamespace(actor, "job.read", c.req.valid("param").namespace);
    const { limit, cursor, ...asked } = c.req.valid("query");
    const search = { ...searchOf(asked), ...(limit && { limit }), ...(cursor && { before: cursor }) };
    const { runs, next } = await listRuns(actor, owner, search);
    if (next) {
      const url = new URL(c.req.url);
      url.searchParams.set("cursor", next);
      c.header("Link", `<${env().ORIGIN}${url.pathname}${url.search}>; rel="next"`);
    }
    return c.json(
      runs.map((run) => listedJobJson(run, owner, actor)),
      200,
    );
  });

/** @throws ServiceError `invalid_request` */
function searchOf({ stage, label }: z.infer<typeof filters>): Pick<RunSearch, "stages" | "labels"> {
  // Clients know stages that no job here ever has: those match nothing.
  const asked = stage === undefined ? undefined : [stage].flat().map((one) => one.toUpperCase());
  const labels = (label === undefined ? [] : [label].flat()).map((one) => {
    const [, name, value] = /^([A-Za-z0-9._-]{1,100})=([A-Za-z0-9._-]{0,100})$/.exec(one) ?? [];
    if (name === undefined || value === undefined)
      throw new ServiceError("invalid_request", "label: write name=value, in letters, digits and . _ -", { field: "label" });
    return [name, value] as const;
  });
  return {
    ...(asked && { stages: jobStages.filter((one) => asked.includes(one)) }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
  };
}
