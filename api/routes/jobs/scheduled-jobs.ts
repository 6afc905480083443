import { createRoute, z } from "@hono/zod-openapi";
import { jobSpecOf, scheduledJobAnswerSchema, scheduledJobBodySchema } from "@keyhook/sdk";
import { env } from "#core/env.ts";
import { createSchedule } from "#core/jobs/schedules/create-schedule.ts";
import { listSchedules } from "#core/jobs/schedules/list-schedules.ts";
import { requirePersonsToken, requireToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { scheduledJobJson } from "./job-json.ts";
import { namespaceParams } from "./params.ts";

const path = "/api/scheduled-jobs/{namespace}" as const;
const number = z.coerce.number().int().positive().optional();

const create = createRoute({
  method: "post",
  path,
  summary: "Have a job run on a schedule",
  security: withToken,
  request: {
    params: namespaceParams,
    body: { required: true, content: { "application/json": { schema: scheduledJobBodySchema } } },
  },
  responses: { 200: { description: "The schedule", content: { "application/json": { schema: scheduledJobAnswerSchema } } } },
});

const list = createRoute({
  method: "get",
  path,
  summary: "List scheduled jobs, the newest first",
  security: withToken,
  request: {
    params: namespaceParams,
    query: z.object({
      limit: number,
      p: number.openapi({ description: "The page, from 1; the header `Link` names the next one." }),
    }),
  },
  responses: {
    200: { description: "Schedules", content: { "application/json": { schema: z.array(scheduledJobAnswerSchema) } } },
  },
});

/** An owner has at most 100: existing clients send one request, and do not read `Link`. */
const ALL = 100;

export const scheduledJobsRoutes = openApiRoutes()
  .openapi(create, async (c) => {
    const { actor } = await requirePersonsToken(c);
    const { jobSpec, schedule, timezone, concurrency, suspend } = c.req.valid("json");
    const input = {
      ...jobSpecOf(jobSpec),
      schedule,
      timezone: timezone ?? null,
      mayOverlap: concurrency ?? false,
      isSuspended: suspend ?? false,
    };
    return c.json(
      scheduledJobJson(await createSchedule(actor, c.req.valid("param").namespace, input, requestOriginOf(c)), actor),
      200,
    );
  })
  .openapi(list, async (c) => {
    const { actor } = await requireToken(c);
    const { limit = ALL, p } = c.req.valid("query");
    const request = { pageSize: limit, ...(p && { page: p }) };
    const { items, page, pageSize, total, owner } = await listSchedules(actor, c.req.valid("param").namespace, request);
    if (page * pageSize < total) {
      const next = new URL(c.req.url);
      next.searchParams.set("p", String(page + 1));
      c.header("Link", `<${env().ORIGIN}${next.pathname}${next.search}>; rel="next"`);
    }
    return c.json(
      items.map((schedule) => scheduledJobJson({ schedule, owner }, actor)),
      200,
    );
  });
