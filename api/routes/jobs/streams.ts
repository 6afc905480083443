import { setImmediate } from "node:timers/promises";
import { createRoute, z } from "@hono/zod-openapi";
import { errorBodySchema } from "@keyhook/sdk";
import type { Context } from "hono";
import { ServiceError } from "#core/errors.ts";
import { withKeepAlive } from "#core/http/with-keep-alive.ts";
import { findJobNamespace } from "#core/jobs/find-job-namespace.ts";
import { followLog, followStage } from "#core/jobs/logs/follow-log.ts";
import { readLogEnd } from "#core/jobs/logs/read-log.ts";
import { takeLogPlace } from "#core/jobs/logs/take-log-place.ts";
import { findRun } from "#core/jobs/runs/find-run.ts";
import type { Run } from "#core/jobs/runs/run.ts";
import { isOver } from "#core/jobs/stages.ts";
import { requireToken } from "../../actor.ts";
import { askedAnew } from "../../bearer.ts";
import { sendEvents } from "../inference/send-events.ts";
import { openApiRoutes, withToken } from "../open-api.ts";
import { eventOf } from "./events.ts";
import { jobJson } from "./job-json.ts";
import { type LogLine, LogLines } from "./log-lines.ts";
import { jobParams } from "./params.ts";

const path = "/api/jobs/{namespace}/{jobId}" as const;
const events = { "text/event-stream": { schema: z.string() } };

const TAIL_MAX = 1_000;
const EVENTS_AT_ONCE = 64 * 1024;

const logs = createRoute({
  method: "get",
  path: `${path}/logs`,
  summary: "Follow a job's log until it is over",
  security: withToken,
  request: {
    params: jobParams,
    query: z.object({
      tail: z.coerce
        .number()
        .int()
        .min(1)
        .optional()
        .openapi({ description: `The last lines only, at most ${TAIL_MAX}, and at most 1 MiB of the log.` }),
    }),
  },
  responses: { 200: { description: '`data: {"timestamp", "data"}` for each line', content: events } },
});

const stages = createRoute({
  method: "get",
  path: `${path}/events`,
  summary: "Follow a job's stages until it is over",
  security: withToken,
  request: { params: jobParams },
  responses: { 200: { description: "`data:` with the job, now and with each change of its stage", content: events } },
});

const metrics = createRoute({
  method: "get",
  path: `${path}/metrics`,
  summary: "Not offered here: the runners of this service do not measure what a job uses",
  security: withToken,
  request: { params: jobParams },
  responses: { 400: { description: "Always", content: { "application/json": { schema: errorBodySchema } } } },
});

export const jobStreamRoutes = openApiRoutes()
  .openapi(logs, async (c) => {
    const { find, signal, check } = await found(c, c.req.valid("param"));
    const run = await find();
    takeLogPlace();
    const { tail } = c.req.valid("query");
    const lines = tail ? tailOf(run, Math.min(tail, TAIL_MAX), signal) : linesOf(run.id, signal);
    return sendEvents(c, withKeepAlive(lines, check));
  })
  .openapi(stages, async (c) => {
    const { find, owner, actor, signal, check } = await found(c, c.req.valid("param"));
    const { id } = await find();
    takeLogPlace();
    return sendEvents(c, withKeepAlive(changes(), check));

    async function* changes() {
      for await (const _ of followStage(id, signal)) yield eventOf(jobJson(await find(), owner, actor), "status");
    }
  })
  .openapi(metrics, async (c) => {
    const { find } = await found(c, c.req.valid("param"));
    await find();
    throw new ServiceError("invalid_request", "What a job uses is not measured here. Its log and its durations are.");
  });

async function found(c: Context, { namespace, jobId }: { namespace: string; jobId: string }) {
  const actorNow = askedAnew(c, async () => (await requireToken(c)).actor);
  const actor = await actorNow();
  const owner = await findJobNamespace(actor, "job.read", namespace);
  const find = () => findRun(actor, owner, jobId);
  // A stream may last a day: its reader must still be allowed (S114).
  const check = async () => findJobNamespace(await actorNow(), "job.read", namespace);
  return { owner, actor, find, signal: c.req.raw.signal, check };
}

async function* linesOf(runId: string, signal: AbortSignal, after = 0, lines = new LogLines()) {
  for await (const { chunks } of followLog(runId, { after, signal })) yield* told(lines.of(chunks));
  yield* told(lines.rest());
}

async function* tailOf({ id, stage }: Run, tail: number, signal: AbortSignal) {
  const lines = new LogLines();
  const { chunks } = await readLogEnd(id, { lines: tail });
  const last = [...lines.of(chunks)];
  if (isOver(stage)) last.push(...lines.rest());
  yield* told(last.slice(-tail));
  yield* linesOf(id, signal, chunks.at(-1)?.seq ?? 0, lines);
}

/** Some at a time: a line can be a single byte of the log, and an event is a hundred. Others get their turn in between (S137). */
async function* told(lines: Iterable<LogLine>) {
  let events = "";
  for (const line of lines) {
    events += eventOfLine(line);
    if (events.length < EVENTS_AT_ONCE) continue;
    yield events;
    events = "";
    await setImmediate();
  }
  if (events) yield events;
}

const eventOfLine = ({ at, text }: LogLine): string => eventOf({ timestamp: at.toISOString(), data: text });
