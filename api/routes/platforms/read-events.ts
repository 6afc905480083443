import type { Context } from "hono";
import { ServiceError } from "#core/errors.ts";

/** The events of a request, sent in any of the three modes of the CloudEvents HTTP binding. */
export type SentEvents = { isBatch: boolean; events: unknown[] };

const HEADER_PREFIX = "ce-";

/** @throws ServiceError `invalid_request` */
export async function readEvents(c: Context): Promise<SentEvents> {
  const mediaType = (c.req.header("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (mediaType === "application/cloudevents+json") return { isBatch: false, events: [await readJson(c)] };
  if (mediaType === "application/cloudevents-batch+json") {
    const events = await readJson(c);
    if (!Array.isArray(events)) throw new ServiceError("invalid_request", "A batch is a JSON array of events.");
    return { isBatch: true, events };
  }
  if (c.req.header("ce-specversion") !== undefined) {
    return { isBatch: false, events: [{ ...readHeaders(c), datacontenttype: mediaType, data: await readJson(c) }] };
  }
  throw new ServiceError(
    "invalid_request",
    "Send application/cloudevents+json, application/cloudevents-batch+json, or JSON with the ce- headers of CloudEvents 1.0.",
    { field: "Content-Type" },
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

/** The attributes of a binary event; header values are percent-encoded (HTTP binding, 3.1.3.2). */
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
