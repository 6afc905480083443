import { z } from "@hono/zod-openapi";
import {
  jobAnswerSchema,
  jobLabelsBodySchema,
  jobSpecOf,
  scheduleBodySchema,
  scheduledJobAnswerSchema,
  scheduledJobBodySchema,
} from "@keyhook/sdk";
import { findRun } from "#core/jobs/runs/find-run.ts";
import {
  createSchedule,
  deleteSchedule,
  resumeSchedule,
  suspendSchedule,
  updateSchedule,
} from "#core/jobs/schedules/change-schedule.ts";
import { findSchedule, listSchedules } from "#core/jobs/schedules/find-schedule.ts";
import { runScheduleNow } from "#core/jobs/schedules/start-due-run.ts";
import { defineRoute, json } from "../../define-route.ts";
import { linkNextPage, pageNumber } from "../../next-page.ts";
import { jobJson, namespace, scheduledJobJson } from "./job-json.ts";

/** Existing clients send one request and do not read `Link`, so a page has all schedules of an owner. */
const ALL = 100;

const params = { namespace };
const theSchedule = { 200: json("The schedule", scheduledJobAnswerSchema) };

export const scheduledJobRoutes = [
  defineRoute("POST /api/scheduled-jobs/{namespace}", {
    operationId: "createScheduledJob",
    action: "job.run",
    actor: "user",
    summary: "Run a job on a schedule",
    params,
    body: scheduledJobBodySchema,
    maxBodyBytes: 1024 * 1024,
    responses: theSchedule,
    async handle({ actor, params, body: { jobSpec, schedule, timezone, concurrency, suspend }, origin }) {
      const input = {
        ...jobSpecOf(jobSpec),
        schedule,
        timezone: timezone ?? null,
        mayOverlap: concurrency ?? false,
        isSuspended: suspend ?? false,
      };
      return scheduledJobJson(await createSchedule(actor, params.namespace, input, origin), actor);
    },
  }),

  defineRoute("GET /api/scheduled-jobs/{namespace}", {
    operationId: "listScheduledJobs",
    action: "job.read",
    actor: "token",
    summary: "List scheduled jobs, newest first",
    params,
    query: z.object({
      limit: z.coerce.number().int().positive().optional(),
      p: pageNumber(),
    }),
    responses: { 200: json("Schedules", z.array(scheduledJobAnswerSchema)) },
    async handle({ c, actor, params, query: { limit = ALL, p } }) {
      const { items, page, pageSize, total, owner } = await listSchedules(actor, params.namespace, { page: p, pageSize: limit });
      if (page * pageSize < total) linkNextPage(c, { p: page + 1 });
      return items.map((schedule) => scheduledJobJson({ schedule, owner }, actor));
    },
  }),

  defineRoute("GET /api/scheduled-jobs/{namespace}/{jobId}", {
    operationId: "getScheduledJob",
    action: "job.read",
    actor: "token",
    summary: "Get a scheduled job",
    params,
    responses: theSchedule,
    handle: async ({ actor, params }) => scheduledJobJson(await findSchedule(actor, scheduleName(params)), actor),
  }),

  defineRoute("POST /api/scheduled-jobs/{namespace}/{jobId}/suspend", {
    operationId: "suspendScheduledJob",
    action: "job.run",
    actor: "token",
    summary: "Suspend a scheduled job",
    params,
    responses: theSchedule,
    async handle({ actor, params, origin }) {
      return scheduledJobJson(await suspendSchedule(actor, scheduleName(params), origin), actor);
    },
  }),

  defineRoute("POST /api/scheduled-jobs/{namespace}/{jobId}/resume", {
    operationId: "resumeScheduledJob",
    action: "job.run",
    actor: "user",
    summary: "Resume a scheduled job, which then runs with the caller's permissions",
    params,
    responses: theSchedule,
    async handle({ actor, params, origin }) {
      return scheduledJobJson(await resumeSchedule(actor, scheduleName(params), origin), actor);
    },
  }),

  defineRoute("POST /api/scheduled-jobs/{namespace}/{jobId}/schedule", {
    operationId: "rescheduleJob",
    action: "job.run",
    actor: "token",
    summary: "Change when a scheduled job runs; it then runs with the caller's permissions",
    params,
    body: scheduleBodySchema,
    responses: theSchedule,
    async handle({ actor, params, body: { schedule, timezone, concurrency }, origin }) {
      const changes = { schedule, ...(timezone && { timezone }), ...(concurrency != null && { mayOverlap: concurrency }) };
      return scheduledJobJson(await updateSchedule(actor, scheduleName(params), changes, origin), actor);
    },
  }),

  defineRoute("PUT /api/scheduled-jobs/{namespace}/{jobId}/labels", {
    operationId: "setScheduledJobLabels",
    action: "job.run",
    actor: "token",
    summary: "Replace a scheduled job's labels; it then runs with the caller's permissions",
    params,
    body: jobLabelsBodySchema,
    responses: theSchedule,
    async handle({ actor, params, body: { labels }, origin }) {
      return scheduledJobJson(await updateSchedule(actor, scheduleName(params), { labels }, origin), actor);
    },
  }),

  defineRoute("POST /api/scheduled-jobs/{namespace}/{jobId}/run", {
    operationId: "runScheduledJob",
    action: "job.run",
    actor: "user",
    summary: "Run a scheduled job once, immediately",
    params,
    responses: {
      200: json("The run", jobAnswerSchema),
      409: { description: "The previous run has not ended, and `concurrency` is false" },
    },
    async handle({ actor, params, origin }) {
      const { owner, runId } = await runScheduleNow(actor, scheduleName(params), origin);
      return jobJson(await findRun(actor, owner, runId), owner, actor);
    },
  }),

  defineRoute("DELETE /api/scheduled-jobs/{namespace}/{jobId}", {
    operationId: "deleteScheduledJob",
    action: "job.run",
    actor: "token",
    summary: "Delete a scheduled job, but not its runs",
    params,
    responses: { 200: json("Deleted", z.object({})) },
    async handle({ actor, params, origin }) {
      await deleteSchedule(actor, scheduleName(params), origin);
      return {};
    },
  }),
];

const scheduleName = ({ namespace, jobId }: { namespace: string; jobId: string }) => ({ namespace, scheduleId: jobId });
