import { z } from "zod";
import { invalidRequest, ServiceError } from "../../errors.ts";
import { type EventData, eventKinds, eventOf, kindOfType, parseEventData } from "./event-data.ts";
import { refusalOf, unstorable } from "./mirror.ts";
import { isSourceOf, type Platform } from "./platform.ts";

/** See CloudEvents 1.0. The published library would give an event without an `id` a new one each time. */
const attributes = z.object({
  specversion: z.literal("1.0", "must be 1.0"),
  id: z.string().min(1).max(255),
  source: z
    .string()
    .min(1)
    .max(500)
    .regex(/^[^\s<>"{}|\\^`]+$/, "must be a URI"),
  type: z.string().min(1).max(255),
  time: z.iso.datetime({ offset: true, error: "must be a time as in RFC 3339" }).optional(),
  datacontenttype: z
    .string()
    .regex(/^[^/;\s]+\/([^/;\s]+\+)?json\s*(;.*)?$/i, "must be JSON")
    .optional(),
});

export type CloudEvent = { id: string; source: string; data: EventData };

export function readCloudEvent(value: unknown, platform: Platform): CloudEvent {
  const problem = unstorable(value);
  if (problem) throw invalidRequest(problem);
  const parsed = attributes.safeParse(value);
  if (!parsed.success) throw refusalOf(parsed.error);
  const { id, source, type } = parsed.data;
  if (!isSourceOf(platform.source, source)) {
    throw new ServiceError("forbidden", `source: this platform can only report ${platform.source}.`, { field: "source" });
  }
  const kind = kindOfType(type);
  if (!kind) {
    const known = eventKinds.map((each) => each.replace(" ", ".")).join(", ");
    throw invalidRequest(`type: must end in one of ${known}.`, "type");
  }
  const { data, data_base64: binary } = value as { data?: unknown; data_base64?: unknown };
  if (binary !== undefined) throw invalidRequest("data_base64: send JSON in data.", "data_base64");
  const content = parseEventData(kind, data);
  if (!content.success) throw refusalOf(content.error, "data");
  requireSameEvent(data, kind);
  return { id, source, data: content.data };
}

function requireSameEvent(data: unknown, kind: EventData["kind"]): void {
  const { event } = data as { event?: unknown };
  if (event === undefined) return;
  const { scope, action } = eventOf(kind);
  const repeated = event as { scope?: unknown; action?: unknown } | null;
  if (repeated?.scope !== scope || repeated.action !== action) {
    throw invalidRequest(`data.event: must be ${action} of ${scope}, as in type.`, "data.event");
  }
}
