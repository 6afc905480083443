import { z } from "@hono/zod-openapi";
import { errorBodySchema } from "@keyhook/sdk";
import { ServiceError } from "#core/errors.ts";
import { EVENTS_MAX, type Taken, takeEvents } from "#core/hub/platforms/take-events.ts";
import { openApiRoutes } from "../open-api.ts";
import { readEvents } from "./read-events.ts";
import { refusalJson, refusalSchema } from "./refusal-json.ts";
import { requirePlatform } from "./require-platform.ts";

/** The routes read the body themselves: it has one of three media types. */
export const eventRoutes = openApiRoutes();

const resultSchema = refusalSchema.extend({
  source: z.string().nullable(),
  id: z.string().nullable(),
  status: z.enum(["recorded", "duplicate", "failed"]),
  eventId: z.string().optional(),
});

eventRoutes.openAPIRegistry.registerPath({
  method: "post",
  path: "/api/events",
  summary: "Tell of what happened to repositories of a platform",
  description:
    "CloudEvents 1.0 in structured, binary or batch mode, with the platform's token. Each is taken once, by `source` and `id`; sending it again answers `duplicate`.",
  security: [{ bearer: [] }],
  request: {
    body: {
      required: true,
      content: {
        "application/cloudevents+json": { schema: z.object({}).loose() },
        "application/cloudevents-batch+json": { schema: z.array(z.object({}).loose()).max(EVENTS_MAX) },
        "application/json": { schema: z.object({}).loose() },
      },
    },
  },
  responses: {
    200: {
      description: "Of one event what became of it; of a batch `results`, in its order, the refused ones among them",
      content: { "application/json": { schema: z.union([resultSchema, z.object({ results: z.array(resultSchema) })]) } },
    },
    404: {
      description: "One event told of a repository that is not there",
      content: { "application/json": { schema: errorBodySchema } },
    },
  },
});

eventRoutes.post("/api/events", async (c) => {
  const platform = await requirePlatform(c);
  const { isBatch, events } = await readEvents(c);
  const taken = await takeEvents(platform, events);
  if (isBatch) return c.json({ results: taken.map(resultJson) }, 200);
  const [one] = taken;
  if (!one) throw new ServiceError("invalid_request", "There is no event.");
  if (one.status === "failed") throw one.refusal;
  return c.json(resultJson(one), 200);
});

function resultJson(taken: Taken): z.infer<typeof resultSchema> {
  const { source, id, status } = taken;
  return {
    source,
    id,
    status,
    ...(taken.status === "recorded" && { eventId: taken.eventId }),
    ...(taken.status === "failed" && refusalJson(taken.refusal)),
  };
}
