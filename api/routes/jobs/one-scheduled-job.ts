import { createRoute } from "@hono/zod-openapi";
import { jobAnswerSchema, jobLabelsBodySchema, scheduleBodySchema, scheduledJobAnswerSchema } from "@keyhook/sdk";
import { findRun } from "#core/jobs/runs/find-run.ts";
import { deleteSchedule } from "#core/jobs/schedules/delete-schedule.ts";
import { findSchedule } from "#core/jobs/schedules/find-schedule.ts";
import { resumeSchedule } from "#core/jobs/schedules/resume-schedule.ts";
import { runScheduleNow } from "#core/jobs/schedules/run-schedule-now.ts";
import { suspendSchedule } from "#core/jobs/schedules/suspend-schedule.ts";
import { updateSchedule } from "#core/jobs/schedules/update-schedule.ts";
import { requirePersonsToken, requireToken } from "../../actor.ts";
import { requestOriginOf } from "../../request-origin.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { jobJson, scheduledJobJson } from "./job-json.ts";
import { emptyAnswer, jobParams } from "./params.ts";

const path = "/api/scheduled-jobs/{namespace}/{jobId}" as const;
const content = { "application/json": { schema: scheduledJobAnswerSchema } };
const request = { params: jobParams };
const common = { security: withToken, request, responses: { 200: { description: "The schedule", content } } };
const withBody = <S>(schema: S) => ({
  ...common,
  request: { ...request, body: { required: true as const, content: { "application/json": { schema } } } },
});

const read = createRoute({ method: "get", path, summary: "Read a scheduled job", ...common });
const suspend = createRoute({ method: "post", path: `${path}/suspend`, summary: "Start no more runs", ...common });
const resume = createRoute({
  method: "post",
  path: `${path}/resume`,
  summary: "Start runs again, from now on in the name of whoever says so",
  ...common,
});
const schedule = createRoute({
  method: "post",
  path: `${path}/schedule`,
  summary: "Change when a scheduled job runs",
  ...withBody(scheduleBodySchema),
});
const labels = createRoute({
  method: "put",
  path: `${path}/labels`,
  summary: "Put other labels in the place of a scheduled job's",
  ...withBody(jobLabelsBodySchema),
});
const run = createRoute({
  method: "post",
  path: `${path}/run`,
  summary: "Run a scheduled job once, now",
  security: withToken,
  request,
  responses: {
    200: { description: "The run", content: { "application/json": { schema: jobAnswerSchema } } },
    409: { description: "The last run goes on, and runs must not overlap" },
  },
});
const remove = createRoute({
  method: "delete",
  path,
  summary: "Delete a scheduled job; its runs stay",
  security: withToken,
  request,
  responses: { 200: { description: "It is gone", content: { "application/json": { schema: emptyAnswer } } } },
});

const of = ({ namespace, jobId }: { namespace: string; jobId: string }) => ({ namespace, scheduleId: jobId });

export const oneScheduledJobRoutes = openApiRoutes()
  .openapi(read, async (c) => {
    const { actor } = await requireToken(c);
    return c.json(scheduledJobJson(await findSchedule(actor, of(c.req.valid("param"))), actor), 200);
  })
  .openapi(suspend, async (c) => {
    const { actor } = await requireToken(c);
    return c.json(scheduledJobJson(await suspendSchedule(actor, of(c.req.valid("param")), requestOriginOf(c)), actor), 200);
  })
  .openapi(resume, async (c) => {
    const { actor } = await requirePersonsToken(c);
    return c.json(scheduledJobJson(await resumeSchedule(actor, of(c.req.valid("param")), requestOriginOf(c)), actor), 200);
  })
  .openapi(schedule, async (c) => {
    const { actor } = await requireToken(c);
    const { schedule, timezone, concurrency } = c.req.valid("json");
    const changes = { schedule, ...(timezone && { timezone }), ...(concurrency != null && { mayOverlap: concurrency }) };
    return c.json(
      scheduledJobJson(await updateSchedule(actor, of(c.req.valid("param")), changes, requestOriginOf(c)), actor),
      200,
    );
  })
  .openapi(labels, async (c) => {
    const { actor } = await requireToken(c);
    const { labels } = c.req.valid("json");
    return c.json(
      scheduledJobJson(await updateSchedule(actor, of(c.req.valid("param")), { labels }, requestOriginOf(c)), actor),
      200,
    );
  })
  .openapi(run, async (c) => {
    const { actor } = await requirePersonsToken(c);
    const { owner, runId } = await runScheduleNow(actor, of(c.req.valid("param")), requestOriginOf(c));
    return c.json(jobJson(await findRun(actor, owner, runId), owner, actor), 200);
  })
  .openapi(remove, async (c) => {
    const { actor } = await requireToken(c);
    await deleteSchedule(actor, of(c.req.valid("param")), requestOriginOf(c));
    return c.json({}, 200);
  });
