import { z } from "@hono/zod-openapi";
import { type EventResultJson, eventResultSchema, type RefusalJson, type SyncResultJson, syncResultSchema } from "@keyhook/sdk";
import type { Context } from "hono";
import { invalidRequest, ServiceError } from "#core/errors.ts";
import { requireValidToken } from "#core/hub/platforms/platform.ts";
import { SYNC_MAX_REPOS, type SyncResult, syncRepos } from "#core/hub/platforms/sync-repos.ts";
import { EVENTS_MAX, type Taken, takeEvents } from "#core/hub/platforms/take-events.ts";
import { defineRoute, failure, json } from "../define-route.ts";
import { listOf } from "../refuse-bad-input.ts";

const anyEvent = z.object({}).loose();

export const platformRoutes = [
  defineRoute("POST /api/events", {
    operationId: "sendPlatformEvents",
    actor: "platform",
    summary: "Report events in repositories of a platform",
    description:
      "CloudEvents 1.0 in structured, binary or batch mode, with the platform's token. `source` and `id` identify an event, which is recorded once. If an event is sent again, its result is `duplicate`.",
    maxBodyBytes: 4 * 1024 * 1024,
    rawBody: {
      required: true,
      content: {
        "application/cloudevents+json": { schema: anyEvent },
        "application/cloudevents-batch+json": { schema: z.array(anyEvent).max(EVENTS_MAX) },
        "application/json": { schema: anyEvent },
      },
    },
    responses: {
      200: json(
        "For one event, its result; for a batch, `results` with one result for each event, in the same order, including refused events",
        z.union([eventResultSchema, z.object({ results: z.array(eventResultSchema) })]),
      ),
      404: failure("The event is about an unknown repository. In a batch, the event's own result says so"),
    },
    async handle({ c, platform }) {
      const { isBatch, events } = await readEvents(c);
      const taken = await takeEvents(platform, events);
      if (isBatch) return { results: taken.map(eventResultJson) };
      const [one] = taken;
      if (!one) throw invalidRequest("Send at least one event.");
      if (one.status === "failed") throw one.refusal;
      return eventResultJson(one);
    },
  }),

  defineRoute("POST /api/repos/sync", {
    operationId: "syncPlatformRepositories",
    actor: "platform",
    summary: "Mirror the repositories of a platform",
    maxBodyBytes: 4 * 1024 * 1024,
    body: z.object({
      repos: listOf(z.unknown(), { max: SYNC_MAX_REPOS, of: "repositories" }).openapi({
        description:
          'At most 1,000 of `{type, name: "owner/name", id, private, url, description?, tags?, defaultBranch?, headSha?}`; `id` is the platform\'s own.',
      }),
      complete: z.boolean().default(false).openapi({
        description:
          "Whether `repos` is the complete list. If so, repositories that are not in it are deleted; a request that would delete more than 1,000 is refused.",
      }),
      events: z.boolean().default(false).openapi({
        description: "Whether to record this request's changes as events. Omit it if the platform sends events itself.",
      }),
    }),
    responses: {
      200: json(
        "The result for each repository in the order of the request, followed by the deleted ones",
        z.object({ results: z.array(syncResultSchema) }),
      ),
    },
    async handle({ platform, body: { repos, complete, events }, origin }) {
      await requireValidToken(platform);
      const results = await syncRepos(platform, { repos, isComplete: complete, isRecorded: events }, origin);
      return { results: results.map(syncResultJson) };
    },
  }),
];

function eventResultJson(taken: Taken): EventResultJson {
  const { source, id, status } = taken;
  return {
    source,
    id,
    status,
    ...(taken.status === "recorded" && { eventId: taken.eventId }),
    ...(taken.status === "failed" && refusalJson(taken.refusal)),
  };
}

function syncResultJson({ id, status, refusal }: SyncResult): SyncResultJson {
  return { id, status, ...(refusal && refusalJson(refusal)) };
}

function refusalJson({ message, code, field }: ServiceError): RefusalJson {
  return { error: message, code, ...(field && { field }) };
}

/** The three modes of the CloudEvents HTTP binding. */
type SentEvents = { isBatch: boolean; events: unknown[] };

const HEADER_PREFIX = "ce-";

async function readEvents(c: Context): Promise<SentEvents> {
  const mediaType = (c.req.header("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (mediaType === "application/cloudevents+json") return { isBatch: false, events: [await readJson(c)] };
  if (mediaType === "application/cloudevents-batch+json") {
    const events = await readJson(c);
    if (!Array.isArray(events)) throw invalidRequest("A batch is a JSON array of events.");
    return { isBatch: true, events };
  }
  if (c.req.header("ce-specversion") !== undefined) {
    return { isBatch: false, events: [{ ...readHeaders(c), datacontenttype: mediaType, data: await readJson(c) }] };
  }
  throw invalidRequest(
    "Send application/cloudevents+json, application/cloudevents-batch+json, or JSON with the ce- headers of CloudEvents 1.0.",
    "Content-Type",
  );
}

async function readJson(c: Context): Promise<unknown> {
  const text = await c.req.text();
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError("invalid_request", "The body is not JSON.", { cause });
  }
}

/** Header values are percent-encoded (HTTP binding, 3.1.3.2). */
function readHeaders(c: Context): Record<string, string> {
  const attributes = Object.entries(c.req.header()).flatMap(([name, value]) =>
    name.startsWith(HEADER_PREFIX) ? [[name.slice(HEADER_PREFIX.length), decoded(name, value)] as const] : [],
  );
  return Object.fromEntries(attributes);
}

function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch (cause) {
    throw new ServiceError("invalid_request", `${name}: is not percent-encoded UTF-8.`, { cause, field: name });
  }
}
