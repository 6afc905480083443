import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { type EventData, eventKinds, eventOf, kindOfType, parseEventData } from "./event-data.ts";
import { refusalOf } from "./mirrored-repo.ts";
import { isSourceOf, type Platform } from "./platform.ts";
import { unstorable } from "./storable.ts";

/**
 * The attributes of CloudEvents 1.0 that are looked at; others, extensions among them, are ignored. We read them ourselves: the
 * published library makes up an `id` where there is none, and with it an event that is never taken twice would be.
 */
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

/**
 * Reads one event as a platform sent it.
 * @throws ServiceError `invalid_request` with the field; `forbidden` for a source that is not the platform's
 */
export function readCloudEvent(value: unknown, platform: Platform): CloudEvent {
  const problem = unstorable(value);
  if (problem) throw new ServiceError("invalid_request", problem);
  const parsed = attributes.safeParse(value);
  if (!parsed.success) throw refusalOf(parsed.error);
  const { id, source, type } = parsed.data;
  if (!isSourceOf(platform.source, source)) {
    throw new ServiceError("forbidden", `source: this platform speaks for ${platform.source} only.`, { field: "source" });
  }
  const kind = kindOfType(type);
  if (!kind) {
    const known = eventKinds.map((each) => each.replace(" ", ".")).join(", ");
    throw new ServiceError("invalid_request", `type: must end in one of ${known}.`, { field: "type" });
  }
  const { data, data_base64: binary } = value as { data?: unknown; data_base64?: unknown };
  if (binary !== undefined) {
    throw new ServiceError("invalid_request", "data_base64: send JSON in data.", { field: "data_base64" });
  }
  const content = parseEventData(kind, data);
  if (!content.success) throw refusalOf(content.error, "data");
  requireSameEvent(data, kind);
  return { id, source, data: content.data };
}

/** A payload may repeat what `type` says; it may not say something else. */
function requireSameEvent(data: unknown, kind: EventData["kind"]): void {
  const { event } = data as { event?: unknown };
  if (event === undefined) return;
  const { scope, action } = eventOf(kind);
  const said = event as { scope?: unknown; action?: unknown } | null;
  if (said?.scope !== scope || said.action !== action) {
    throw new ServiceError("invalid_request", `data.event: must be ${action} of ${scope}, as type says.`, {
      field: "data.event",
    });
  }
}
