import { setImmediate } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import type { Actor } from "#core/access/actor.ts";
import { invalidRequest } from "#core/errors.ts";
import { withKeepAlive } from "#core/http/with-keep-alive.ts";
import { findJobNamespace } from "#core/jobs/find-job-namespace.ts";
import { followLog, followStage, type LogChunk, readLogEnd, takeLogSlot } from "#core/jobs/logs/read-log.ts";
import { findRun } from "#core/jobs/runs/find-run.ts";
import type { Run } from "#core/jobs/runs/run.ts";
import { isOver } from "#core/jobs/stages.ts";
import { defineRoute, events, failure } from "../../define-route.ts";
import { eventOf, sendEvents } from "../../events.ts";
import { jobJson, namespace } from "./job-json.ts";

const TAIL_MAX = 1_000;
const EVENTS_AT_ONCE = 64 * 1024;

const params = { namespace };

export const jobStreamRoutes = [
  defineRoute("GET /api/jobs/{namespace}/{jobId}/logs", {
    operationId: "followJobLogs",
    action: "job.read",
    actor: "token",
    summary: "Follow a job's log until the job ends",
    params,
    query: z.object({
      tail: z.coerce
        .number()
        .int()
        .min(1)
        .optional()
        .openapi({
          description: `How many of the log's last lines to send first: at most ${TAIL_MAX.toLocaleString("en")}, and at most 1 MiB.`,
        }),
    }),
    responses: { 200: events('`data: {"timestamp", "data"}` for each line') },
    async handle({ c, query: { tail }, ...request }) {
      const { find, check } = await findStreamed(request);
      const run = await find();
      takeLogSlot();
      const lines = (signal: AbortSignal) => (tail ? tailOf(run, Math.min(tail, TAIL_MAX), signal) : linesOf(run.id, signal));
      return sendEvents(c, withKeepAlive(lines, { signal: c.req.raw.signal, check }));
    },
  }),

  defineRoute("GET /api/jobs/{namespace}/{jobId}/events", {
    operationId: "followJobEvents",
    action: "job.read",
    actor: "token",
    summary: "Follow a job's stages until the job ends",
    params,
    responses: { 200: events("`data:` with the job, immediately and at each change of its stage") },
    async handle({ c, ...request }) {
      const { owner, find, check } = await findStreamed(request);
      const { id } = await find();
      takeLogSlot();
      return sendEvents(c, withKeepAlive(changes, { signal: c.req.raw.signal, check }));

      async function* changes(signal: AbortSignal) {
        for await (const _ of followStage(id, signal)) {
          yield eventOf(jobJson(await find(), owner, request.actor), "status");
        }
      }
    },
  }),

  defineRoute("GET /api/jobs/{namespace}/{jobId}/metrics", {
    operationId: "followJobMetrics",
    action: "job.read",
    actor: "token",
    summary: "Not supported: the service does not measure a job's use of resources",
    params,
    responses: { 400: failure("Returned for every request") },
    async handle(request) {
      await (await findStreamed(request)).find();
      throw invalidRequest("The service does not measure a job's use of resources.");
    },
  }),
];

type StreamRequest = {
  actor: Actor;
  actorNow: () => Promise<Actor>;
  params: { namespace: string; jobId: string };
};

async function findStreamed({ actor, actorNow, params: { namespace, jobId } }: StreamRequest) {
  const owner = await findJobNamespace(actor, "job.read", namespace);
  const find = () => findRun(actor, owner, jobId);
  // A stream may last a day, so access is checked repeatedly (S114).
  const check = async () => findJobNamespace(await actorNow(), "job.read", namespace);
  return { owner, find, check };
}

async function* linesOf(runId: string, signal: AbortSignal, after = 0, lines = new LogLines()) {
  for await (const { chunks } of followLog(runId, { after, signal })) yield* eventsOfLines(lines.of(chunks));
  yield* eventsOfLines(lines.rest());
}

async function* tailOf({ id, stage }: Run, tail: number, signal: AbortSignal) {
  const lines = new LogLines();
  const { chunks } = await readLogEnd(id, { lines: tail });
  const last = [...lines.of(chunks)];
  if (isOver(stage)) last.push(...lines.rest());
  yield* eventsOfLines(last.slice(-tail));
  yield* linesOf(id, signal, chunks.at(-1)?.seq ?? 0, lines);
}

/** A line of one byte becomes an event of a hundred bytes. Other requests get their turn after several lines (S137). */
async function* eventsOfLines(lines: Iterable<LogLine>) {
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

/** An endless line must not fill the memory, so longer lines are sent in pieces. */
const LINE_MAX_CHARACTERS = 64 * 1024;

type LogLine = { at: Date; text: string };

/** The same chunks always make the same lines, because clients that reconnect skip as many lines as they have seen. */
class LogLines {
  readonly #open = new Map<string, LogLine>();

  *of(chunks: Iterable<LogChunk>): Generator<LogLine> {
    for (const chunk of chunks) yield* this.#linesOf(chunk);
  }

  *#linesOf({ at, stream, text }: LogChunk): Generator<LogLine> {
    const begun = this.#open.get(stream);
    const lines = ((begun?.text ?? "") + text).split("\n");
    let since = begun?.at ?? at;
    let last = lines.pop() ?? "";
    for (const line of lines) {
      yield* pieces({ at: since, text: line.replace(/\r$/, "") });
      since = at;
    }
    while (last.length > LINE_MAX_CHARACTERS) {
      yield { at: since, text: last.slice(0, LINE_MAX_CHARACTERS) };
      last = last.slice(LINE_MAX_CHARACTERS);
    }
    if (last) this.#open.set(stream, { at: since, text: last });
    else this.#open.delete(stream);
  }

  *rest(): Generator<LogLine> {
    yield* this.#open.values();
    this.#open.clear();
  }
}

function* pieces({ at, text }: LogLine): Generator<LogLine> {
  for (let from = 0; from === 0 || from < text.length; from += LINE_MAX_CHARACTERS)
    yield { at, text: text.slice(from, from + LINE_MAX_CHARACTERS) };
}
